#include "cluster_emulated.hpp"
#include "cluster_lstm.cu"

extern "C" void forward(
    const u16* projected, const u16* weights, u16* gates, float* states, u16* outputs, int lanes, int times, int rows, int stride
) {
    auto kernel = [=] { lstm_forward(projected, weights, gates, states, outputs, times, rows, stride); };
    emulate(BLOCKS, (rows + ROWS - 1) / ROWS, lanes, SHARED_FORWARD, ROWS * UNITS * 2, kernel);
}

extern "C" void backward(
    const u16* gradient, const u16* weights, const u16* gates, const float* states, u16* slopes, int lanes, int times, int rows, int stride
) {
    auto kernel = [=] { lstm_backward(gradient, weights, gates, states, slopes, times, rows, stride); };
    emulate(BLOCKS, (rows + ROWS - 1) / ROWS, lanes, SHARED_BACKWARD, BLOCKS * PART * 4, kernel);
}

extern "C" int shared_forward() { return SHARED_FORWARD; }

extern "C" int shared_backward() { return SHARED_BACKWARD; }

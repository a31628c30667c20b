#include "cluster_emulated.hpp"
#include "cluster_lstm.cu"

extern "C" bool forward(
    const u16* projected, const u16* weights, u16* gates, float* states, u16* outputs, int lanes, int times, int rows, int stride
) {
    tensor(projected, 1LL * lanes * times * rows * GATES * sizeof *projected);
    auto kernel = [=] { lstm_forward(projected, weights, gates, states, outputs, times, rows, stride); };
    return emulate(BLOCKS, (rows + ROWS - 1) / ROWS, lanes, SHARED_FORWARD, ROWS * UNITS * 2, kernel);
}

extern "C" bool backward(
    const u16* gradient, const u16* weights, const u16* gates, const float* states, u16* slopes, int lanes, int times, int rows, int stride
) {
    long long numbers = 1LL * lanes * times * rows * UNITS;
    tensor(gradient, numbers * sizeof *gradient);
    tensor(gates, 4 * numbers * sizeof *gates);
    tensor(states, numbers * sizeof *states);
    auto kernel = [=] { lstm_backward(gradient, weights, gates, states, slopes, times, rows, stride); };
    return emulate(BLOCKS, (rows + ROWS - 1) / ROWS, lanes, SHARED_BACKWARD, BLOCKS * PART * 4, kernel);
}

extern "C" int shared_forward() { return SHARED_FORWARD; }

extern "C" int shared_backward() { return SHARED_BACKWARD; }

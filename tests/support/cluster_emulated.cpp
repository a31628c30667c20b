#include "cluster_emulated.hpp"
#include "cluster_lstm.cu"

extern "C" void forward(
    const u16* projected, const u16* weights, u16* gates, float* states, u16* outputs, int lanes, int times, int rows
) {
    auto kernel = [=] { lstm_forward(projected, weights, gates, states, outputs, times, rows); };
    emulate(BLOCKS, (rows + ROWS - 1) / ROWS, lanes, 2 * ROWS * (UNITS + PAD), ROWS * UNITS * 2, kernel);
}

extern "C" void backward(
    const u16* gradient, const u16* turned, const u16* gates, const float* states, u16* slopes, int lanes, int times, int rows
) {
    auto kernel = [=] { lstm_backward(gradient, turned, gates, states, slopes, times, rows); };
    emulate(BLOCKS, (rows + ROWS - 1) / ROWS, lanes, 2 * ROWS * (GATES + PAD) + 2 * 4 * ROWS * (OWN + PAD), ROWS * GATES * 2, kernel);
}

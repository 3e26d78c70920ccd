/* Product of matrices of 32-bit integers, which wraps. */
#include <stdint.h>

void matmul(int rows, int inner, int columns, const int32_t a[rows][inner],
            const int32_t b[inner][columns], int32_t c[rows][columns])
{
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
            int32_t sum = 0;
            for (int k = 0; k < inner; k++)
                sum += a[row][k] * b[k][column];
            c[row][column] = sum;
        }
    }
}

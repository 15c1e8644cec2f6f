/** Vectors as they are stored. */

/** 32-bit floats, as sqlite-vec reads them. */
export function bytesOf(values: readonly number[]): Buffer {
  return Buffer.from(Float32Array.from(values).buffer);
}

export function valuesOf(bytes: Buffer): number[] {
  return [...new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))];
}

/**
 * One bit for each value: whether it is above the mean of the vector. Signs alone would all be equal in a vector
 * without negative values.
 */
export function bitsOf(values: readonly number[]): Buffer {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const bits = Buffer.alloc(Math.ceil(values.length / 8));
  values.forEach((value, index) => {
    if (value > mean) bits[index >> 3]! |= 1 << (index & 7);
  });
  return bits;
}

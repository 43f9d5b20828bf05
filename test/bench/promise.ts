/** Three digits are as much as a measurement on a busy machine is worth. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

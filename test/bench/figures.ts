/** One row of the table that `npm run bench` prints. */
export interface Figure {
  readonly what: string;
  readonly measured: string;
  /** The ratios to a bare Bolt: the time until the user sees the answer, and the time on the processor. */
  readonly 'x p50'?: number;
  readonly 'x CPU'?: number;
  /** What it should be, and whether it is. */
  readonly aim?: string;
  readonly isMet?: boolean;
}

/** The value that so large a share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Three digits are as much as a measurement on a busy machine is worth. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/** A figure that has to stay at or below its aim. */
export function atMost(what: string, value: number, aim: number, unit: string): Figure {
  return { what, measured: `${rounded(value)} ${unit}`, aim: `≤ ${aim} ${unit}`, isMet: value <= aim };
}

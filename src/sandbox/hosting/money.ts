const DECIMAL = /^(\d{1,9})\.(\d{2})$/;

/** Minor units of a decimal amount with two decimals, as prices are written (docs/hosting-api.md 2). @throws RangeError */
export function minorOf(decimal: string): number {
  const parts = DECIMAL.exec(decimal);
  if (!parts) throw new RangeError(`"${decimal}" is not an amount with two decimals, such as 9.99.`);
  return Number(parts[1]) * 100 + Number(parts[2]);
}

/** The decimal amount with two decimals of an integer of minor units. */
export function decimalOf(minor: number): string {
  const whole = Math.trunc(Math.abs(minor) / 100);
  const rest = String(Math.abs(minor) % 100).padStart(2, '0');
  return `${minor < 0 ? '-' : ''}${whole}.${rest}`;
}

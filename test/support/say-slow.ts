import { ALONE, SLOW } from './slow-files.ts';

/** Says what `npm test` leaves out. */
export function setup(): void {
  const leftOut = [...SLOW, ...ALONE];
  process.stderr.write(
    `${leftOut.length} slow test files are left out (npm run test:all): ${leftOut.join(', ')}\n`,
  );
}

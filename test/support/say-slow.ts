import { SLOW } from './slow-files.ts';

/** Says what `npm test` leaves out. */
export function setup(): void {
  process.stderr.write(
    `${SLOW.length} slow test files are left out (npm run test:all): ${SLOW.join(', ')}\n`,
  );
}

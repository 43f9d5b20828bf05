/**
 * Test files that `npm test` leaves out: they start many processes or servers of their own, wait for real time, or try hundreds
 * of cases, and take half of the time of the whole suite. `npm run test:all` runs them too, and so does CI.
 */
export const SLOW: readonly string[] = [
  // processes that are killed and started again
  'whole/crash-points',
  'whole/installs/killed',
  'whole/killed',
  'whole/slack/socket-processes',
  'whole/key-rotation',
  'whole/keys',
  'whole/start',
  'whole/stop',
  // servers and programs of their own
  'cli/doctor',
  'deploy/container',
  'deploy/package',
  'sandbox/check-messages',
  'sandbox/main',
  'db/restores',
  'whole/account/audit-program',
  'whole/restore',
  'whole/servers/vps-program',
  // many cases, or a lot of data
  'fuzz/fuzz',
  'slack/unfinished-connections',
  'purchases/failing-store',
  'killed',
  'reminders/batches-killed',
  'db/audit-prune',
  'purchases/one-account-interleavings',
  // looked at by a browser for minutes
  'sandbox/page/tour',
];

/** Measured, or too heavy to share the machine: a number taken beside other tests is theirs as well. Run one at a time. */
export const ALONE: readonly string[] = [
  'servers/long-labels',
  'sandbox/page/accessibility',
  'soak/several-processes',
  'whole/servers/large',
];

/** Says what `npm test` leaves out. */
export function setup(): void {
  const leftOut = [...SLOW, ...ALONE];
  process.stderr.write(
    `${leftOut.length} slow test files are left out (npm run test:all): ${leftOut.join(', ')}\n`,
  );
}

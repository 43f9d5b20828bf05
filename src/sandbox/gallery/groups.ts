/** Where a surface stands, by how its name begins; the first that fits. The order is that of the page. */
const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/^(help|connect$|disconnect$|settings|a modal that waits|status:|audit,)/, 'Help, access and state'],
  [/^(ask for|give|request for) a role|^(answer to|access)/, 'Roles'],
  [/^approval/, 'Approvals'],
  [/^(show|servers|nothing matches|renew|delete|create|start|stop|reboot|root password)/, 'Servers'],
  [/^smallest: /, 'The least there can be'],
  [/^typical: /, 'The usual'],
  [/^largest: /, 'The most there can be'],
  [/^(outcome|told to all|decide)/, 'How orders end'],
  [/^error .* in a modal$/, 'Errors in modals'],
  [/^error /, 'Errors'],
  [/^nasty label/, 'Hostile labels'],
];

const ELSEWHERE = 'Everything else';

/** The group of a surface. */
export function groupOf(name: string): string {
  return GROUPS.find(([pattern]) => pattern.test(name))?.[1] ?? ELSEWHERE;
}

/** Where the group stands on the page. */
export function placeOf(group: string): number {
  const at = GROUPS.findIndex(([, name]) => name === group);
  return at < 0 ? GROUPS.length : at;
}

/** The group of a surface, by how its name begins; the first match counts. The page shows them in this order. */
const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/^(help|connect|disconnect|settings|a modal that|status:|audit,|API key)/, 'Help and account'],
  [/^(role request|request a role|grant a role|answer to role request)/, 'Access'],
  [/^approval|^announcement: approved/, 'Approvals'],
  [/^(control panel|show|servers|renew|delete|create|start|stop|reboot|root password)/, 'Servers'],
  [/^smallest: /, 'Smallest amount of data'],
  [/^typical: /, 'Typical amount of data'],
  [/^largest: /, 'Largest amount of data'],
  [
    /^(outcome|announcement|decide|in the form|in the channel|order queued|the address|balance)/,
    'Order outcomes',
  ],
  [/^not done: /, 'Actions that were not done'],
  [/^error .* in a modal$/, 'Errors in modals'],
  [/^error /, 'Errors'],
  [/^nasty label/, 'Hostile labels'],
];

const OTHER = 'Everything else';

/** The group of a surface. */
export function groupOf(name: string): string {
  return GROUPS.find(([pattern]) => pattern.test(name))?.[1] ?? OTHER;
}

/** The position of the group on the page. */
export function placeOf(group: string): number {
  const at = GROUPS.findIndex(([, name]) => name === group);
  return at < 0 ? GROUPS.length : at;
}

/** Words for the audit's actions where the use case's own name says too little. */
const WORDS: Readonly<Record<string, string>> = {
  confirm: 'confirm a payment',
  password: 'look at the root password',
  password_saved: 'save the root password',
  connect: 'connect the API key',
  connect_link: 'ask for a link to connect',
  disconnect: 'disconnect the API key',
  access: 'look at access',
  access_grant: 'give a role',
  access_revoke: 'take a role',
  access_ask: 'ask for a role',
  access_answer: 'answer a request for a role',
  access_ended: 'end a temporary role',
  approval_ask: 'ask for approval',
  approval_answer: 'answer a request for approval',
  settings: 'look at the settings',
  settings_change: 'change the settings',
  audit_prune: 'remove old audit entries',
};

/** What was done, as the audit and a server's history say it. */
export function describeAction(action: string): string {
  return WORDS[action] ?? action;
}

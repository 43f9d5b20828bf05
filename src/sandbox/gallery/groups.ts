/** Where a surface is shown. */
export interface Place {
  readonly group: string;
  /** Of the same build as others: the first of a family is drawn in full, the others as a list of their sentences. */
  readonly family?: string;
  /** What its row in that list is called. */
  readonly row?: string;
}

type Rule = readonly [pattern: RegExp, group: string, family?: string];

const HELP = 'Help';
const HOME = 'Home';
const SERVERS = 'Servers';
const PURCHASES = 'Purchases';
const REMINDERS = 'Reminders';
const APPROVALS = 'Approvals';
const ACCESS = 'Access';
const ACCOUNT = 'Account';
const WORKFLOWS = 'Workflows';
const REFUSALS = 'Refusals and errors';

/** The order on the page. */
const GROUPS: readonly string[] = [
  HELP,
  HOME,
  SERVERS,
  PURCHASES,
  REMINDERS,
  APPROVALS,
  ACCESS,
  ACCOUNT,
  WORKFLOWS,
  REFUSALS,
];

/** By how the name of a surface begins; the first match counts. What it captures is the name of the row. */
const RULES: readonly Rule[] = [
  [/^help for (viewer|operator|manager)$/, HELP, 'help by role'],
  [/^help (?!for )(\w+)$/, HELP, 'help about one command'],
  [/^help/, HELP],
  [/^a modal that is loading/, HELP],

  [/^Home/, HOME],

  [/^((?:start|stop|reboot), (?:announced|told).*)/, SERVERS, 'start, stop and reboot, step by step'],
  [/^((?:start|stop|reboot), unconfirmed)/, SERVERS, 'start, stop and reboot, unconfirmed'],
  [/^((?:start|stop|reboot), a list.*)/, SERVERS, 'start, stop and reboot, several servers to confirm'],
  [/^followed (.*)/, SERVERS, 'what happens to a server after an action'],
  [/^(waiting.*)/, SERVERS, 'waiting for the rate limit'],
  [/^not done: (.*)/, SERVERS, 'actions that were not done'],
  [/^((?:show|start|stop|reboot|password) which\?.*)/, SERVERS, 'choosing a server'],
  [
    /^(control panel|show|servers|several servers|delete|announcement: approved|a message mentions|shortcut)/,
    SERVERS,
  ],

  [/^outcome: (create, refused.*)/, PURCHASES, 'create, refused'],
  [/^outcome: (renew, refused.*)/, PURCHASES, 'renew, refused'],
  [/^outcome: (create, unconfirmed.*?)(?:, needs a decision)?$/, PURCHASES, 'create, unconfirmed'],
  [/^outcome: (renew, unconfirmed.*?)(?:, needs a decision)?$/, PURCHASES, 'renew, unconfirmed'],
  [/^in the form: (.*)/, PURCHASES, 'orders, what the form shows'],
  [/^in the channel: (.*)/, PURCHASES, 'orders, what the channel reads'],
  [/^(balance too low.*)/, PURCHASES, 'balance too low'],
  [/^root password (erased.*)/, PURCHASES, 'root password erased'],
  [/^(renew all|renewals)/, REMINDERS],
  [/^(catalog|costs|create|renew|decide|outcome|order|root password|the address)/, PURCHASES],

  [/^digest: (due|everything else)$/, REMINDERS],
  [/^digest: (.*)/, REMINDERS, 'digest, what becomes of a server'],
  [/^(digest|reminders)/, REMINDERS],

  [/^approval card: (?!.*\bopen\b)(.*)/, APPROVALS, 'approval card, answered'],
  [/^approval message: (.*)/, APPROVALS, 'approval, what the requester reads'],
  [/^approval answered: (.*)/, APPROVALS, 'approval, what the approver reads'],
  [/^approval/, APPROVALS],

  [/^role request, (?!.*: (?:open|what|the form))(.*)/, ACCESS, 'role request, answered'],
  [/^role request, (.*): what the owner reads, (.*)/, ACCESS, 'role request, what the owner reads'],
  [/^answer to role request, (.*)/, ACCESS, 'role request, what the requester reads'],
  [/^request a role, (.*: .*)/, ACCESS, 'role request, sent'],
  [/^grant a role to (.*)/, ACCESS, 'roles granted and revoked'],
  [/^(access|role request|request a role|grant a role)/, ACCESS],

  [/^(?:connect|disconnect): (.*)/, ACCOUNT, 'connecting and disconnecting, the messages'],
  [/^API key (.*)/, ACCOUNT, 'API key, to the owners'],
  [/^status: (Slack.*)/, ACCOUNT, 'status, what Slack allows'],
  [/^status: (\w+)$/, ACCOUNT, 'status, the hosting API can’t be used'],
  [/^settings, (everything saved|everything reset|nothing changed)/, ACCOUNT, 'settings saved'],
  [/^(connect|disconnect|settings|status|audit)/, ACCOUNT],

  [/^a workflow asks: (stop|reboot)$/, WORKFLOWS, 'what a workflow asks'],
  [/^a workflow, by a button: (.*)/, WORKFLOWS, 'the result of a press'],
  [/^(a workflow|workflow key)/, WORKFLOWS],

  [/^error role_needed in a modal$/, REFUSALS],
  [/^error (.*)/, REFUSALS, 'refusals and errors'],
];

const OTHER = 'Everything else';

/** Where a surface of this name is shown. */
export function placeOf(name: string): Place {
  for (const [pattern, group, family] of RULES) {
    const match = pattern.exec(name);
    if (match) return family === undefined ? { group } : { group, family, row: match.slice(1).join(', ') };
  }
  return { group: OTHER };
}

/** The position of the group on the page. */
export function positionOf(group: string): number {
  const at = GROUPS.indexOf(group);
  return at < 0 ? GROUPS.length : at;
}

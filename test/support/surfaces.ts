import type { ModalView } from '@slack/types';
import type { HeldRoles } from '../../src/domain/access.ts';
import type { AccessRequest } from '../../src/domain/access-request.ts';
import { ROLES } from '../../src/domain/actor.ts';
import { HostingError, Refusal } from '../../src/domain/errors.ts';
import { money } from '../../src/domain/money.ts';
import type { Operation } from '../../src/domain/operation.ts';
import { POWER_ACTIONS } from '../../src/domain/server.ts';
import { answerMessage, requestCard } from '../../src/slack/access/access-request-card.ts';
import { accessScreen, rolesMessage } from '../../src/slack/access/access-screen.ts';
import { grantView } from '../../src/slack/access/grant-form.ts';
import { askView } from '../../src/slack/access/request-access.ts';
import { auditMessage } from '../../src/slack/account/audit-page.ts';
import { disconnectMessage, linkMessage } from '../../src/slack/account/connect.ts';
import { statusMessage } from '../../src/slack/account/status.ts';
import { commands } from '../../src/slack/commands.ts';
import { commandHelp, helpMessage } from '../../src/slack/help.ts';
import { type Message, textMessage } from '../../src/slack/kit/blocks.ts';
import { definePicker, loadingView, noticeView, pickView } from '../../src/slack/kit/form.ts';
import { catalogMessage } from '../../src/slack/purchases/catalog-message.ts';
import { choicesView } from '../../src/slack/purchases/create-choices.ts';
import { createReviewView } from '../../src/slack/purchases/create-review.ts';
import { decisionView } from '../../src/slack/purchases/decide.ts';
import { announcement, outcomeMessage, outcomeWords } from '../../src/slack/purchases/outcome-message.ts';
import { passwordMessage } from '../../src/slack/purchases/password.ts';
import { renewReviewView } from '../../src/slack/purchases/renew-review.ts';
import { deleteView } from '../../src/slack/servers/delete-dialog.ts';
import { pickChoice, pickMessage } from '../../src/slack/servers/pick-server.ts';
import { unconfirmedMessage } from '../../src/slack/servers/power.ts';
import { serverCard } from '../../src/slack/servers/server-card.ts';
import { serverList } from '../../src/slack/servers/server-list.ts';
import { wordsOfError, wordsOfRefusal } from '../../src/slack/words.ts';
import { approvalSurfaces, NO_TERMS, settingsSurfaces } from './approval-surfaces.ts';
import {
  DAY_MS,
  type Holdings,
  holdings,
  makeEntry,
  makeHeld,
  makeOperation,
  makeServer,
  NASTY_LABELS,
  NOW,
  ORDER,
} from './fixtures.ts';
import { HOSTING_CODES, REFUSAL_CODES, sampleDetails } from './sample-details.ts';

/** Something that a person may see, made of fixtures alone. */
export interface Surface {
  readonly name: string;
  make(): Message | ModalView;
}

const ORIGIN = { formId: '01K5ZZZZZZZZZZZZZZZZZZZZZZ', channelId: 'C0OPS00001' };
const picker = definePicker('delete');

const surface = (name: string, make: () => Message | ModalView): Surface => ({ name, make });

const unusable = { isUsable: false, error: new HostingError('no_answer', 'maybe') } as const;

/** What depends on how much there is. */
function surfacesOfHoldings(held: Holdings): Surface[] {
  const { name, servers, catalog, open, entries, grants, owners, requests } = held;
  const found = { open, passwordsHeld: open.length, waiting: [] };
  const budget = { taken: 299, limit: 300, waiting: 1200 };
  const usable = { isUsable: true, servers: servers.length, answerMs: 12, budget } as const;
  const typed = { plan: 'smal', location: 'moon', label: 'x'.repeat(900) };
  const wrong = REFUSAL_CODES.filter((code) => code === 'unknown_choice').map((code) =>
    wordsOfRefusal(code, sampleDetails('smal')[code], ''),
  );
  return [
    surface(`${name}: servers`, () => serverList(servers, '', 0)),
    surface(`${name}: servers, last part`, () => serverList(servers, '', 9999)),
    surface(`${name}: servers, a middle part`, () => serverList(servers, '', 1)),
    surface(`${name}: a hundred servers`, () => serverList(servers.slice(0, 100), '', 0)),
    surface(`${name}: sixty servers`, () => serverList(servers.slice(0, 60), '', 0)),
    surface(`${name}: servers that match`, () => serverList(servers, '<!channel> `x`', 1)),
    surface(`${name}: catalog`, () => catalogMessage(catalog, 'EUR', 0)),
    surface(`${name}: catalog, last part, no currency`, () => catalogMessage(catalog, '', 9999)),
    surface(`${name}: catalog, a middle part`, () => catalogMessage(catalog, '', 1)),
    surface(`${name}: create, choices`, () => choicesView(catalog, {}, ORIGIN, 'EUR')),
    surface(`${name}: create, wrong choices`, () => choicesView(catalog, typed, ORIGIN, '', wrong)),
    surface(`${name}: status`, () => statusMessage({ ...found, api: usable }, 'EUR')),
    surface(`${name}: status without the API`, () => statusMessage({ ...found, api: unusable }, '')),
    surface(`${name}: audit`, () => auditMessage(entries, { server: 'web-1' }, undefined, 'EUR')),
    surface(`${name}: audit, older`, () => auditMessage(entries, { actorId: 'U1' }, '01K5', '')),
    surface(`${name}: access`, () => accessScreen({ grants, owners, requests }, 0)),
    surface(`${name}: access, last part`, () => accessScreen({ grants, owners, requests }, 9999)),
    surface(`${name}: access of one person`, () => rolesMessage('U0PERSON1001', reachOf(grants))),
    ...requests.slice(0, 1).flatMap(accessSurfaces),
    ...(servers.length > 0 ? pickSurfaces(held) : []),
  ];
}

const reachOf = (grants: Holdings['grants']): HeldRoles => [
  ...(grants.length > 0 ? [{ role: 'owner', pattern: '', source: 'admin' } as const] : []),
  ...grants.map((grant) => ({ role: grant.role, pattern: grant.pattern, source: grant })),
];

function accessSurfaces(request: AccessRequest): Surface[] {
  const decided = { ...request, decidedBy: 'U0OWNER0001', decidedAt: NOW } as const;
  const states: readonly AccessRequest[] = [
    request,
    { ...decided, state: 'approved' },
    { ...decided, state: 'approved', until: NOW + DAY_MS },
    { ...decided, state: 'denied' },
    { ...request, state: 'replaced' },
    { ...request, state: 'expired' },
  ];
  const { role, pattern: label } = request;
  const wish = label === '' ? { role } : { role, label };
  return [
    ...states.map((each, at) => surface(`request for a role ${request.id} ${at}`, () => requestCard(each))),
    ...states
      .filter(({ state }) => !['open', 'replaced'].includes(state))
      .map((each, at) => surface(`answer to ${request.id} ${at}`, () => answerMessage(each))),
    surface(`ask for a role ${request.id}`, () => askView(wish, ORIGIN)),
  ];
}

/** The form in which an owner gives a role. */
function grantSurfaces(): Surface[] {
  const groups = (amount: number) =>
    Array.from({ length: amount }, (_, index) => ({
      id: `S0GROUP${1000 + index}`,
      handle: `${'oncall-'.repeat(12)}${index}`,
      name: '<!channel> & co',
      isDisabled: index % 7 === 0,
    }));
  return [
    surface('give a role', () => grantView(groups(3), ORIGIN)),
    surface('give a role, without groups', () => grantView([], ORIGIN)),
    surface('give a role, without the scope for groups', () => grantView(undefined, ORIGIN)),
    surface('give a role, with many groups', () => grantView(groups(300), ORIGIN)),
  ];
}

function pickSurfaces({ name, servers }: Holdings): Surface[] {
  const words = wordsOfRefusal('ambiguous_server', { typed: 'web', servers }, '');
  const verbs = Object.keys(pickChoice) as (keyof typeof pickChoice)[];
  return [
    ...verbs.map((verb) => surface(`${name}: ${verb} which?`, () => pickMessage(verb, words, servers))),
    surface(`${name}: delete which?`, () => pickView('Delete a server', picker, words, servers, ORIGIN)),
    surface(`${name}: decide, candidates`, () =>
      decisionView({ operation: makeOperation(), candidates: servers }, ORIGIN),
    ),
  ];
}

/** Every state that an operation can be in, with every reason for it. */
export function operationsOf(label: string): Operation[] {
  const create = { kind: 'create' as const, order: { ...ORDER, label } };
  const renew = { kind: 'renew' as const, serverId: 42, label, paidUntil: NOW };
  const details = sampleDetails(label);
  const flat = REFUSAL_CODES.filter((code) => code !== 'ambiguous_server').map((reason) => ({
    reason,
    reasonDetails: details[reason] as Readonly<Record<string, string | number>>,
  }));
  const reasons = [
    ...flat,
    ...['not_done', 'decided_not_done', 'defect', ...HOSTING_CODES].map((reason) => ({ reason })),
  ];
  return [create, renew].flatMap((purchase) => [
    makeOperation({ purchase, state: 'prepared' }),
    makeOperation({ purchase, state: 'sent', sentAt: NOW }),
    makeOperation({ purchase, state: 'settled', serverId: 42, paidUntil: NOW + 30 * DAY_MS }),
    makeOperation({ purchase, state: 'settled', serverId: 42, hasPassword: true }),
    ...['checking', 'no_answer', 'unknown_code', 'defect'].map((reason) =>
      makeOperation({ purchase, state: 'in_doubt', reason }),
    ),
    makeOperation({ purchase, state: 'in_doubt', reason: 'no_answer', needsDecision: true }),
    makeOperation({ purchase, state: 'refused' }),
    ...reasons.map((why) => makeOperation({ purchase, state: 'refused', ...why })),
  ]);
}

function describeOperation({ purchase, state, reason, needsDecision, hasPassword }: Operation): string {
  const more = [reason, needsDecision ? 'a person has to look' : '', hasPassword ? 'with a password' : ''];
  return [purchase.kind, state, ...more].filter(Boolean).join(', ');
}

/** What is seen of a server of this label, and of what is done with it. */
export function surfacesOfLabel(label: string): Surface[] {
  const server = makeServer({ label, state: label.slice(0, 60) || 'running' });
  const { paidUntil: _none, ipv4: _nor, ...bare } = server;
  const plan = holdings[1]?.catalog.plans[0];
  const history = [1, 2, 3, 4, 5].map((place) => makeEntry(place, { action: 'access_grant' }));
  const operations = [makeOperation({ purchase: { kind: 'create', order: { ...ORDER, label } } })];
  const order = { ...ORDER, label: label.slice(0, 300) };
  return [
    surface('show', () => serverCard({ server, history, operations }, NOW)),
    surface('show, little known', () => serverCard({ server: bare, history: [], operations: [] }, NOW)),
    surface('servers', () => serverList([server, bare], '', 0)),
    surface('nothing matches', () => serverList([], label || 'x', 0)),
    surface('renew, price unknown', () =>
      renewReviewView({ server, paidUntil: NOW, terms: NO_TERMS }, ORIGIN, '', NOW),
    ),
    surface('delete', () => deleteView({ server, takesApproval: false }, ORIGIN, NOW)),
    surface('delete, little known', () => deleteView({ server: bare, takesApproval: false }, ORIGIN, NOW)),
    ...(plan ? paidSurfaces(order, plan, server) : []),
    ...POWER_ACTIONS.map((action) =>
      surface(`${action} in doubt`, () =>
        unconfirmedMessage(action, { server, state: label, isInDoubt: true }),
      ),
    ),
    surface('root password', () => passwordMessage(makeHeld({ label }))),
    ...operationsOf(label).flatMap(outcomeSurfaces),
    ...approvalSurfaces(label),
    ...errorSurfaces(label),
  ];
}

function paidSurfaces(
  order: typeof ORDER,
  plan: Holdings['catalog']['plans'][number],
  server: ReturnType<typeof makeServer>,
): Surface[] {
  return [
    surface('create, review', () => createReviewView({ order, plan, terms: NO_TERMS }, ORIGIN, 'EUR')),
    surface('create, namesake', () =>
      createReviewView({ order, plan, terms: NO_TERMS, namesake: server }, ORIGIN, ''),
    ),
    surface('renew', () =>
      renewReviewView({ server, plan, paidUntil: NOW, terms: NO_TERMS }, ORIGIN, 'EUR', NOW),
    ),
  ];
}

function outcomeSurfaces(operation: Operation): Surface[] {
  const name = describeOperation(operation);
  const held = operation.hasPassword ? makeHeld() : undefined;
  return [
    surface(`outcome: ${name}`, () => outcomeMessage(operation, held, 'EUR')),
    surface(`outcome in the modal: ${name}`, () =>
      noticeView('Create a server', outcomeWords(operation, 'EUR')),
    ),
    ...(operation.state === 'settled'
      ? [surface(`told to all: ${name}`, () => announcement(operation))]
      : []),
    ...(operation.hasPassword
      ? [surface(`outcome as a direct message: ${name}`, () => outcomeMessage(operation, undefined, ''))]
      : []),
    ...(operation.needsDecision
      ? [false, true].map((isConnectedAnew) =>
          surface(`decide: ${name}${isConnectedAnew ? ', of another account' : ''}`, () =>
            decisionView({ operation, candidates: [makeServer()], isConnectedAnew }, ORIGIN),
          ),
        )
      : []),
  ];
}

function errorSurfaces(label: string): Surface[] {
  const details = sampleDetails(label);
  const refused = REFUSAL_CODES.map((code) => new Refusal(code, details[code]));
  const unknown = new HostingError('unknown_code', 'maybe', { unknownCode: label });
  const hosting = HOSTING_CODES.map((code) => new HostingError(code, 'no'));
  return [...refused, unknown, ...hosting].flatMap((error) => {
    const words = () => wordsOfError(error, 'EUR');
    return [
      surface(`error ${error.code}`, () => textMessage(words())),
      surface(`error ${error.code} in a modal`, () => noticeView('That did not work', words())),
    ];
  });
}

const fixed: Surface[] = [
  ...[undefined, ...ROLES].map((role) =>
    surface(`help for ${role ?? 'somebody without a role'}`, () => helpMessage(commands, role)),
  ),
  ...commands.map((command) => surface(`help ${command.name}`, () => commandHelp(command))),
  surface('connect', () => linkMessage(`https://vps.example.com/connect/${'t'.repeat(43)}`)),
  surface('disconnect', () => disconnectMessage()),
  surface('a modal that waits', () => loadingView('Create a server')),
  ...[new Refusal('no_api_key', {}), ...HOSTING_CODES.map((code) => new HostingError(code, 'no'))].map(
    (error) =>
      surface(`status: ${error.code}`, () =>
        statusMessage({ api: { isUsable: false, error }, open: [], passwordsHeld: 0, waiting: [] }, ''),
      ),
  ),
  surface('audit, what was begun only', () =>
    auditMessage([makeEntry(1, { outcome: 'started', money: money(590) })], {}, undefined, 'EUR'),
  ),
];

/** One of everything, for tests and for a page that shows them all. */
export const surfaces: readonly Surface[] = [
  ...fixed,
  ...settingsSurfaces,
  ...holdings.flatMap(surfacesOfHoldings),
  ...grantSurfaces(),
  ...surfacesOfLabel('web-1'),
];

/** The same with labels that want to be formatted, to ping, or to be too long. */
export const nastySurfaces: readonly Surface[] = NASTY_LABELS.flatMap((label, index) =>
  surfacesOfLabel(label).map(({ name, make }) => surface(`nasty label ${index}, ${name}`, make)),
);

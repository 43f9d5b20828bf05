import type { HeldPassword } from '../../src/app/purchases/ports.ts';
import type { Grant } from '../../src/domain/access.ts';
import type { AccessRequest } from '../../src/domain/access-request.ts';
import type { AuditEntry } from '../../src/domain/audit-entry.ts';
import type { Catalog, Order, Plan } from '../../src/domain/catalog.ts';
import { money } from '../../src/domain/money.ts';
import type { Operation, Standing } from '../../src/domain/operation.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { Server } from '../../src/domain/server.ts';

/** 2026-09-21 14:13 UTC. */
export const NOW = 1_790_000_000_000;
export const DAY_MS = 86_400_000;
/** A root password that must never be seen where it does not belong. */
export const CANARY = 'Xq7-canary-<&>`*_R';
/** What a hostile label tries to mention. */
export const EVIL_USER = 'U0EVIL00001';

/** Labels that somebody may have given in the account: each has broken a chat bot once. */
export const NASTY_LABELS: readonly string[] = [
  '<!channel> *x* _y_ ~z~ <!here> <!everyone>',
  `<@${EVIL_USER}> & <#C0EVIL0001|x> <!subteam^S0EVIL0001>`,
  '`code` ```block``` `<!channel>`',
  '<https://evil.example|account page> @here #general',
  '<!date^1^{date}^https://evil.example|x>',
  'line\nbreak\r\n> quote\u2028next',
  'مرحبا بالعالم',
  'gnp.\u202eexe\u2066',
  ':rotating_light: :wave:',
  '"quoted" \\ \'single\' {"o":1}',
  '',
  '   ',
  '&lt;!channel&gt; &amp;amp;',
  'a\ud83d',
  '🚀'.repeat(150),
  '&'.repeat(300),
  '<'.repeat(300),
  '`'.repeat(300),
  '\u0001'.repeat(300),
  'x'.repeat(300),
  'عرب'.repeat(100),
];

export function makeServer(more: Partial<Server> = {}): Server {
  return {
    id: 42,
    label: 'web-1',
    state: 'running',
    ipv4: '203.0.113.7',
    paidUntil: NOW + 12 * DAY_MS,
    ...more,
  };
}

export const ORDER: Order = { plan: 'small', location: 'ams', image: 'debian-13', label: 'web-1' };

const NO_ANSWER = { code: 'no_answer', details: {} } as const;

type Fields = Partial<Omit<Operation, keyof Standing>>;

export function makeOperation(more: Fields & (Standing | { readonly state?: never }) = {}): Operation {
  return {
    id: '01K5ZZZZZZZZZZZZZZZZZZZZZZ',
    workspaceId: 'T0TEAM00001',
    actorId: 'U0MANAGER01',
    channelId: 'C0OPS00001',
    purchase: { kind: 'create', order: ORDER },
    state: 'prepared',
    price: money(590),
    knownIds: [],
    hasPassword: false,
    createdAt: NOW - 60_000,
    needsDecision: false,
    ...more,
  };
}

export function makeHeld(more: Partial<HeldPassword> = {}): HeldPassword {
  return {
    operationId: '01K5ZZZZZZZZZZZZZZZZZZZZZZ',
    workspaceId: 'T0TEAM00001',
    creatorId: 'U0MANAGER01',
    serverId: 42,
    label: 'web-1',
    password: new Secret(CANARY),
    ...more,
  };
}

export function makeEntry(place: number, more: Partial<AuditEntry> = {}): AuditEntry & { id: string } {
  return {
    id: `01K5ZZZZZZZZZZZZZZZZZZ${String(1000 + place)}`,
    at: NOW - place * 1000,
    workspaceId: 'T0TEAM00001',
    actorId: 'U0MANAGER01',
    channelId: 'C0OPS00001',
    surface: 'command',
    action: 'reboot',
    actId: `act-${place}`,
    serverId: 42,
    label: 'web-1',
    outcome: 'done',
    ...more,
  };
}

export function makeGrant(place: number, more: Partial<Grant> = {}): Grant {
  return {
    workspaceId: 'T0TEAM00001',
    subjectKind: 'user',
    subjectId: `U0PERSON${String(1000 + place)}`,
    id: `01K5GRANT${String(1000 + place)}`,
    role: 'operator',
    pattern: '',
    grantedBy: 'U0OWNER0001',
    grantedAt: NOW,
    ...more,
  };
}

/** Somebody asks for a role. */
export function makeAccessRequest(place = 1, more: Partial<AccessRequest> = {}): AccessRequest {
  return {
    id: `01K5ASK${String(1000 + place)}`,
    workspaceId: 'T0TEAM00001',
    requesterId: `U0PERSON${String(1000 + place)}`,
    channelId: 'C0OPS00001',
    role: 'operator',
    pattern: '',
    reason: 'I am on call this week',
    requestedAt: NOW,
    expiresAt: NOW + 7 * DAY_MS,
    state: 'open',
    isNotified: true,
    cards: [],
    ...more,
  };
}

/** What an account and a workspace hold, as little, as usual, and as much as plausible. */
export interface Holdings {
  readonly name: 'smallest' | 'typical' | 'largest';
  readonly servers: readonly Server[];
  readonly catalog: Catalog;
  readonly open: readonly Operation[];
  readonly entries: readonly (AuditEntry & { readonly id: string })[];
  readonly grants: readonly Grant[];
  readonly requests: readonly AccessRequest[];
  readonly owners: readonly string[];
}

const smallest: Holdings = {
  name: 'smallest',
  servers: [],
  catalog: { plans: [], locations: [], images: [] },
  open: [],
  entries: [],
  grants: [],
  requests: [],
  owners: [],
};

function makePlan(code: string, size: number): Plan {
  return { code, vcpu: size, ramMb: size * 1024, diskGb: size * 20, monthly: money(size * 295) };
}

const typical: Holdings = {
  name: 'typical',
  servers: [
    makeServer({ id: 1, label: 'db-1', paidUntil: NOW + 2 * 3_600_000 }),
    makeServer({ id: 2, label: 'web-1' }),
    makeServer({ id: 3, label: 'web-2', paidUntil: NOW - DAY_MS, state: 'suspended' }),
    { id: 4, label: 'web-3', state: 'creating' },
  ],
  catalog: {
    plans: [makePlan('small', 2), makePlan('medium', 4), { ...makePlan('tiny', 1), ramMb: 512 }],
    locations: ['ams', 'fra'],
    images: ['debian-13', 'ubuntu-24.04', 'rocky-9'],
  },
  open: [
    makeOperation({ state: 'unconfirmed', reason: NO_ANSWER, needsDecision: true }),
    makeOperation({ state: 'sent' }),
  ],
  entries: [
    makeEntry(1),
    makeEntry(2, { outcome: 'denied', code: 'role_needed', action: 'delete' }),
    makeEntry(3, { outcome: 'done', action: 'create', money: money(590) }),
    makeEntry(4, { outcome: 'started', action: 'stop' }),
  ],
  grants: [makeGrant(1), makeGrant(2, { role: 'viewer', pattern: 'web-*', until: NOW + DAY_MS })],
  requests: [makeAccessRequest()],
  owners: ['U0OWNER0001'],
};

const STATES = [
  'running',
  'creating',
  'stopped',
  'ERROR_42',
  '',
  ' ',
  'a state of its own '.repeat(20),
  '<!here>',
];

function makeManyServers(count: number): Server[] {
  return Array.from({ length: count }, (_, index) => {
    const label = NASTY_LABELS[index % NASTY_LABELS.length] ?? '';
    const long = index % 2 === 0 ? `${index}-${'&<x'.repeat(100)}`.slice(0, 300) : label;
    const server = { id: 9_007_199_254_000_000 + index, label: long, state: STATES[index % 8] ?? '' };
    if (index % 5 === 0) return server;
    const ipv4 = index % 7 === 0 ? '2001:0db8:0000:0000:0000:ff00:0042:8329/64' : '203.0.113.7';
    return { ...server, ipv4, paidUntil: NOW + (index - 5) * DAY_MS };
  });
}

const largest: Holdings = {
  name: 'largest',
  servers: makeManyServers(3000),
  catalog: {
    plans: Array.from({ length: 150 }, (_, index) =>
      makePlan(`${'plan & size '.repeat(10)}`.slice(0, 70) + String(1000 + index), 1 + index),
    ),
    locations: Array.from({ length: 120 }, (_, index) => `<location>-${'x'.repeat(55)}-${index}`),
    images: Array.from({ length: 300 }, (_, index) => `image-${'&'.repeat(60)}-${index}`),
  },
  open: NASTY_LABELS.map((label, index) =>
    makeOperation({
      id: `01K5ZZZZZZZZZZZZZZZZZZ${1000 + index}`,
      ...(index % 2 === 0
        ? { state: 'unconfirmed', reason: NO_ANSWER, needsDecision: true }
        : { state: 'sent' }),
      purchase: { kind: 'create', order: { ...ORDER, label } },
    }),
  ),
  entries: Array.from({ length: 21 }, (_, index) =>
    makeEntry(index, {
      label: NASTY_LABELS[index % NASTY_LABELS.length] ?? '',
      outcome: 'in_doubt',
      code: 'unreadable_answer',
      action: 'connect_link',
      money: money(99_999_999),
    }),
  ),
  grants: Array.from({ length: 500 }, (_, index) =>
    makeGrant(index, {
      subjectKind: (['user', 'group', 'channel'] as const)[index % 3] ?? 'user',
      pattern: `${'*'.repeat(50)}${'<!channel>'.repeat(5)}`,
      until: NOW + DAY_MS,
    }),
  ),
  requests: Array.from({ length: 40 }, (_, index) =>
    makeAccessRequest(index, { reason: '<!channel> &\n'.repeat(24), pattern: 'x'.repeat(300) }),
  ),
  owners: Array.from({ length: 30 }, (_, index) => `U0OWNER${1000 + index}`),
};

export const holdings: readonly Holdings[] = [smallest, typical, largest];

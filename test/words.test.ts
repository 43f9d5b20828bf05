import { describe, expect, it, test } from 'vitest';
import { ACTION_WORDS, describeAct, describeChanges } from '../src/account/audit-sentence.ts';
import { auditRoles } from '../src/core/audit-entry.ts';
import {
  HostingError,
  Refusal,
  type RefusalCode,
  type RefusalDetails,
  type UncheckedReason,
} from '../src/core/errors.ts';
import { money } from '../src/core/money.ts';
import { isProven, labelOf, type Operation, type OperationRefusal } from '../src/purchases/operation.ts';
import {
  announcement,
  outcomeMessage,
  outcomeTitle,
  outcomeWords,
  queuedWords,
} from '../src/purchases/outcomes.ts';
import {
  approvalCard,
  approvalMessage,
  approvalWords,
  describeDecision,
} from '../src/requests/approval-card.ts';
import { type Approval, type ApprovalAction, CANCEL_CODES } from '../src/requests/request.ts';
import { operationsOf } from '../src/sandbox/gallery/fixtures/purchases.ts';
import {
  DELETE_ENDS,
  HOSTING_CODES,
  REFUSAL_CODES,
  refusalsOf,
  sampleDetails,
  unconfirmedReasons,
} from '../src/sandbox/gallery/fixtures/reasons.ts';
import {
  makeApproval,
  makeDelete,
  makeEntry,
  makeOperation,
  NOW,
  ORDER,
} from '../src/sandbox/gallery/fixtures/samples.ts';
import { deleteWords } from '../src/servers/delete-outcome.ts';
import { parseTyped, splitSubcommand } from '../src/slack/kit/command.ts';
import { readTypedMessage } from '../src/slack/payloads.ts';
import { wordsOfError, wordsOfHosting, wordsOfRefusal } from '../src/words.ts';
import { describeOutcome } from '../src/workflows/card.ts';
import type { RunOutcome } from '../src/workflows/run.ts';
import { startCpuTimer } from './support/clocks.ts';
import { EVENT_SAMPLES, SENDERS } from './support/payloads/samples.ts';

const words = (code: RefusalCode, currency = 'EUR') =>
  wordsOfRefusal(code, sampleDetails('web-1')[code], currency);

const everyWord = [
  ...REFUSAL_CODES.map((code) => [code, words(code)] as const),
  ...HOSTING_CODES.map((code) => [code, wordsOfHosting({ code })] as const),
];

/** Slack writes times in marks of its own. */
const withoutDates = (text: string) => text.replace(/<!date\^\d+\^[^>]*>/g, '');

/** The refusals of a confirmation. Those of what was confirmed are words of the order. */
const MONEY_CODES = ['stale_confirmation', 'waited_too_long', 'shutting_down'] as const;

const SAYS_WHERE_THE_MONEY_IS =
  /nothing (more |else )?(was|is) (charged|ordered|sent|paid)|charge is back|return the charge|charged (once|twice)|back on the balance/i;

describe('the words for an error', () => {
  it.each(everyWord)('%s are a sentence for users, without a stack, a code or `undefined`', (code, text) => {
    expect(text).toMatch(/^[A-Z`\d]/);
    // What is to be typed may come last, in its own marks.
    expect(text).toMatch(/([.?]|`)$/);
    expect(text.length).toBeGreaterThan(20);
    expect(text.length).toBeLessThan(500);
    expect(text).not.toMatch(/undefined|null|NaN|\[object|\bat .*:\d+:\d+|Error:|0x/);
    expect(withoutDates(text)).not.toMatch(/\b[a-z]+_[a-z_]+\b/);
    expect(text).not.toContain(`${code}:`);
  });

  it.each(REFUSAL_CODES)('%s work without the optional details', (code) => {
    const details: RefusalDetails[typeof code] = { ...sampleDetails('web-1')[code] };
    for (const name of ['nearest', 'held', 'owners', 'by']) Reflect.deleteProperty(details, name);
    expect(wordsOfRefusal(code, details, '')).not.toMatch(/undefined|\?\?| {2}/);
  });

  it('for an undocumented API error quote the error', () => {
    const error = new HostingError('unknown_code', 'maybe', { unknownCode: '<!here> maintenance' });
    expect(wordsOfError(error, '')).toMatch(/unknown error.*`&lt;!here&gt; maintenance`/);
  });

  it('name the currency only if the operator set one', () => {
    expect(words('price_moved', 'EUR')).toContain('from 5.90 EUR/month to 6.90 EUR/month');
    expect(words('price_moved', '')).toContain('from 5.90/month to 6.90/month');
  });
});

describe('money', () => {
  it.each(MONEY_CODES)('is said not to have been charged after %s', (code) => {
    expect(words(code)).toMatch(SAYS_WHERE_THE_MONEY_IS);
  });

  it.each([
    'not_created',
    'checking',
    'not_sent',
  ] as const)('is accounted for in the words for the hosting API’s %s', (code) => {
    expect(wordsOfHosting({ code })).toMatch(SAYS_WHERE_THE_MONEY_IS);
  });

  it('is accounted for in the words for every refused or unconfirmed purchase', () => {
    const silent = operationsOf('web-1')
      .filter(({ state }) => state === 'refused' || state === 'unconfirmed')
      .map((operation) => outcomeWords(operation, { currency: 'EUR' }))
      .filter((text) => !/charge|back on the balance|twice|nothing was sent/i.test(text));
    expect(silent).toEqual([]);
  });

  it('is never said not to be charged while an order is unconfirmed', () => {
    const unsure = operationsOf('web-1').filter(({ state }) => state === 'unconfirmed' || state === 'sent');
    for (const operation of unsure)
      expect(outcomeWords(operation, { currency: '' })).not.toMatch(
        /nothing was charged|(was|is being) created \(/i,
      );
  });

  it('is said to have been charged once if the password was lost', () => {
    const found = makeOperation({ state: 'settled', serverId: 42, hasPassword: false, sentAt: NOW });
    expect(outcomeWords(found, { currency: '' })).toMatch(/can’t show it again.*charged once/i);
  });
});

const say = (more: Parameters<typeof makeEntry>[1]) => {
  const { channelId: _, ...entry } = makeEntry(1, more);
  return `${describeAct(entry, 'EUR')}${describeChanges(entry)}`;
};
const MARA = '<@U0MANAGER01>';
const NORA = 'U0NORA00001';
const FREEZE = { name: 'freeze', after: 'U0OWNER0001 2026-09-21T14:13:20.000Z' } as const;

describe('an audit entry reads as a sentence', () => {
  test.each([
    [{ action: 'create', money: money(590) }, `${MARA} created \`web-1\` (5.90 EUR)`],
    [
      { action: 'start', label: 'nope', outcome: 'failed', code: 'unknown_server' },
      `${MARA} couldn’t start \`nope\`: no such server`,
    ],
    [
      { action: 'delete', outcome: 'denied', code: 'role_needed' },
      `${MARA} tried to delete \`web-1\` and was denied: no permission`,
    ],
    [
      { action: 'renew', outcome: 'in_doubt', code: 'no_answer' },
      `${MARA} tried to renew \`web-1\`; the outcome is unconfirmed: the hosting API didn’t answer`,
    ],
    [
      { action: 'renew', outcome: 'failed', code: 'decided' },
      `${MARA} resolved the order for \`web-1\`: not renewed`,
    ],
    [
      { action: 'approval_answer', outcome: 'failed', code: 'price_moved' },
      'The approval request for `web-1` was canceled: the price has changed',
    ],
    [
      {
        action: 'access_answer',
        details: {
          ...auditRoles([{ role: 'owner', pattern: '', subjectId: NORA }]),
          answer: 'deny',
          reason: 'not: on call',
        },
      },
      `${MARA} denied <@U0NORA00001>’s request for the *owner* role`,
    ],
    [
      {
        action: 'access_revoke',
        details: auditRoles([
          { role: 'viewer', pattern: '', subjectId: 'S0ONCALL01' },
          { role: 'operator', pattern: '', subjectId: 'C0OPS00001' },
        ]),
      },
      `${MARA} revoked the *viewer* role of <!subteam^S0ONCALL01> and the *operator* role of <#C0OPS00001>`,
    ],
    [
      {
        action: 'settings_change',
        details: {
          kind: 'settings',
          changes: [
            FREEZE,
            { name: 'approval.delete', before: 'true', after: 'false' },
            { name: 'digest.zone', after: 'UTC' },
          ],
        },
      },
      `${MARA} changed the settings\n• Purchase freeze: off → on (by <@U0OWNER0001>)\n• Deletions need approval: on → off\n• Time zone of the daily digest: none → UTC`,
    ],
    [{ action: 'audit_prune', actorId: 'app' }, 'The app removed old audit entries'],
  ] as const)('%j', (more, words) => {
    expect(say({ ...more })).toBe(words);
  });

  test('without internal codes, whatever the action', () => {
    for (const action of Object.keys(ACTION_WORDS))
      expect(say({ action, outcome: 'failed', code: 'defect' })).not.toMatch(/[a-z]_[a-z]|%|undefined/);
  });

  test('in which a label never formats, pings or links', () => {
    const label = '<!here> *x* <http://a|b>';
    for (const action of Object.keys(ACTION_WORDS))
      for (const more of [{}, { details: auditRoles([{ role: 'viewer', pattern: label }]) }])
        expect(say({ action, label, ...more })).not.toMatch(/<!here>|<http/);
  });
});

test.each([
  ['command', 'C0OPS000001', ' in <#C0OPS000001>'],
  ['command', 'D0OTTO00001', ' in a direct message'],
  ['home', 'D0OTTO00001', ' on Home'],
  ['cli', undefined, ' on the command line'],
  // A card or form may have been opened on Home or in a direct message: both have the same conversation.
  ['button', 'D0OTTO00001', ''],
] as const)('an entry of %s in %s names the place only as far as it is known', (surface, channelId, place) => {
  const { channelId: _, ...entry } = makeEntry(1, { action: 'reboot', surface });
  const act = channelId === undefined ? entry : { ...entry, channelId };
  expect(describeAct(act, '')).toBe(`${MARA} rebooted \`web-1\`${place}`);
});

/** Slack takes no longer message. */
const LENGTH = 40_000;

/** Far more than it takes; each of these took seconds once. */
const MOST_MS = 250;

const typed = (text: string) => {
  const sample = EVENT_SAMPLES['message.im'](SENDERS['a member of a plain workspace']);
  const message = readTypedMessage({ ...sample, event: { ...Object(sample.event), text } });
  const { rest } = splitSubcommand(message?.text ?? '');
  return parseTyped(rest, ['label', 'owner']);
};

// A user who can write to the app, without any role, would otherwise hold up all requests.
test.each([
  ['backticks that are never closed', `${'`'.repeat(LENGTH - 1)}a`],
  ['quotation marks within quotation marks', '"'.repeat(LENGTH)],
  ['apostrophes within apostrophes', `${"'".repeat(LENGTH - 1)}!`],
  ['full stops with something after them', `${'.'.repeat(LENGTH - 1)}a`],
  ['links that are never closed', `list ${'<http://'.repeat(LENGTH / 8 - 1)}`],
  ['angle brackets', `list ${'<'.repeat(LENGTH - 5)}`],
  ['accents out of order', `a${'\u0307'.repeat(LENGTH / 2 - 1)}${'\u0323'.repeat(LENGTH / 2)}`],
])('a message of %s holds up nobody', (_name, text) => {
  const readMs = startCpuTimer();
  typed(text);
  expect(readMs()).toBeLessThan(MOST_MS);
});

const LABEL = 'web-1';
const ACTIONS: readonly ApprovalAction[] = [
  { kind: 'delete', serverId: 7, label: LABEL },
  { kind: 'purchase', purchase: { kind: 'create', order: { ...ORDER, label: LABEL } } },
  { kind: 'purchase', purchase: { kind: 'renew', serverId: 7, label: LABEL, paidUntil: NOW } },
];
const decided = { decidedBy: 'U0OWNER0001', decidedAt: NOW };

const canceled = ACTIONS.flatMap((action) =>
  CANCEL_CODES.map((reason) => ({
    code: reason,
    kind: action.kind,
    approval: makeApproval({ ...decided, ...action }, { state: 'canceled', reason }),
  })),
);
const ended = DELETE_ENDS.map((end) => ({
  end: [end.state, end.reason?.code].filter(Boolean).join(' '),
  deletion: makeDelete(LABEL, end),
}));

/** Everything that is said about it, to the requester, to the user who decided and in the cards. */
function listWords(approval: Approval): string[] {
  return [approvalWords(approval), describeDecision(approval, 'EUR')];
}

const withoutMarks = (text: string) => text.replaceAll(/<[^>]*>/g, '').replaceAll(/`[^`]*`/g, '');

describe('the outcome of an approval', () => {
  it.each(
    canceled,
  )('is explained without codes, and names the server to the requester and in the card: $code, $kind (%#)', ({
    approval,
  }) => {
    for (const said of listWords(approval)) {
      expect(withoutMarks(said)).not.toMatch(/\b[a-z]+_[a-z_]+\b|undefined|null|\[object/);
      expect(said).toMatch(/[.]$/);
    }
    expect(approvalWords(approval)).toContain(`\`${LABEL}\``);
    expect(approvalMessage(approval).text).toContain(LABEL);
    expect(JSON.stringify(approvalCard(approval, 'EUR'))).toContain(LABEL);
  });

  it.each(
    canceled.filter(({ code }) => code === 'restored'),
  )('claims nothing if a restore canceled it, since it may have been approved after the backup: $kind (%#)', ({
    approval,
  }) => {
    for (const said of listWords(approval)) {
      expect(said).not.toMatch(/wasn’t (created|renewed|deleted)|nothing was/i);
      expect(said).toContain('It may have been carried out');
    }
  });
});

describe('the outcome of a delete that nobody waits for', () => {
  it.each(ended)('is explained without codes, and names the server: $end', ({ deletion }) => {
    const said = deleteWords(deletion, 'EUR');
    expect(withoutMarks(said)).not.toMatch(/\b[a-z]+_[a-z_]+\b|undefined|null|\[object/);
    expect(said).toMatch(/[.]$/);
    expect(said).toContain(`\`${LABEL}\``);
  });

  it.each(ended.filter(({ end }) => end !== 'settled'))('never claims that the server was deleted: $end', ({
    deletion,
  }) => {
    expect(deleteWords(deletion, '')).toMatch(
      /wasn’t deleted[:.]|`web-1` can’t be deleted|not sure whether (`web-1`|it) was deleted/,
    );
  });
});

const UNCHECKED: readonly UncheckedReason[] = [
  ...HOSTING_CODES.map((code) => ({ code, details: {} })),
  { code: 'no_api_key', details: {} },
  { code: 'account_changed', details: {} },
  { code: 'key_unreadable', details: { keyId: 'k1' } },
  { code: 'waited_too_long', details: {} },
  { code: 'shutting_down', details: {} },
  { code: 'identity_unknown', details: { userId: 'U0MANAGER01' } },
];

describe('an approval that could not be checked', () => {
  it.each(UNCHECKED)('is explained without codes, and stays pending, after $code', (reason) => {
    const said = wordsOfError(new Refusal('not_approved', { reason }), '');
    expect(withoutMarks(said)).not.toMatch(/\b[a-z]+_[a-z_]+\b|undefined|unexpected/);
    expect(said).toMatch(
      /Nothing was approved\. The request is still pending, so you can approve it later\.$/,
    );
  });
});

const EUR = { currency: 'EUR' };
const NONE = { currency: '' };
const refused = (reason: OperationRefusal) => outcomeWords(makeOperation({ state: 'refused', reason }), EUR);
const endedOrders: readonly [string, Operation][] = operationsOf('web-1').map((operation) => [
  [operation.purchase.kind, operation.state, operation.reason?.code ?? ''].join(' '),
  operation,
]);
const refusals = refusalsOf('web-1').map((reason) => [reason.code, reason] as const);

describe('the words for the outcome of an order', () => {
  test.each(
    endedOrders,
  )('name the server, and never show an internal code (%s, sample %#)', (_name, operation) => {
    expect(outcomeWords(operation, EUR)).toContain(labelOf(operation.purchase));
    const shown = JSON.stringify(outcomeMessage(operation, NONE).blocks);
    const said = withoutDates(outcomeWords(operation, NONE));
    expect(said).not.toMatch(/[a-z]_[a-z]|undefined|\[object|null/);
    expect(shown).not.toContain('code_of_the_future');
  });

  test.each(refusals)('say that nothing was charged only if that is proven (%s)', (_code, reason) => {
    const said = refused(reason).match(/nothing (more )?(was|is) charged/gi) ?? [];
    const isSaid = isProven(reason) && reason.code !== 'not_created';
    expect(said).toHaveLength(isSaid ? 1 : 0);
  });

  test('say that the charge is back after the hosting company couldn’t create the server', () => {
    expect(refused({ code: 'not_created', details: {} })).toBe(
      '`web-1` wasn’t created, and the month’s charge is back on the balance. The hosting company couldn’t create the server.',
    );
  });

  test.each(
    unconfirmedReasons.map((reason) => [reason.code, reason] as const),
  )('never claim an outcome while the order is unconfirmed (%s)', (_code, reason) => {
    for (const needsDecision of [false, true]) {
      const operation = makeOperation({ state: 'unconfirmed', reason, needsDecision });
      const said = outcomeWords(operation, NONE);
      expect(said).toMatch(/not sure yet|can’t tell/);
      expect(said).not.toMatch(/wasn’t created|nothing was charged|order again/i);
    }
  });

  test.each([
    [' (server 42)', { serverId: 42 }],
    [', but we can’t see the server', {}],
  ])('say that a manager marked a create as done%s, which nothing proves', (made, found) => {
    const operation = makeOperation({ state: 'settled', decidedBy: 'U0OWNER0001', ...found });
    expect(outcomeWords(operation, NONE)).toBe(
      `<@U0OWNER0001> marked your order for \`web-1\` as done${made}. Check the charge on the hosting account’s page. If the answer to the order still arrives, you’ll get the root password.`,
    );
    expect(announcement(operation).text).toBe(
      '<@U0OWNER0001> marked <@U0MANAGER01>’s order for `web-1` as done',
    );
    expect(outcomeTitle(operation)).toBe('Create a server');
  });

  test.each([
    ['order for', makeOperation()],
    [
      'renewal of',
      makeOperation({ purchase: { kind: 'renew', serverId: 42, label: 'web-1', paidUntil: NOW } }),
    ],
  ])('name no cause while your %s a server waits to be sent, since any may be the cause', (noun, operation) => {
    expect(queuedWords(operation)).toBe(
      `Your ${noun} \`web-1\` hasn’t been sent yet: this is taking longer than usual. We’ll post the result here. Don’t order it again.`,
    );
  });

  test.each([
    'account_changed',
    'no_api_key',
    'key_rejected',
  ] as const)('don’t promise to keep checking an account that can’t be checked (%s)', (code) => {
    const reason = { code, details: {} };
    const operation = makeOperation({ state: 'unconfirmed', reason, needsDecision: true });
    expect(outcomeWords(operation, NONE)).toMatch(
      /press \*Resolve…\*\. We won’t retry, so you can’t be charged twice\.$/,
    );
  });
});

const said = (outcome: RunOutcome, label = 'web-1') => describeOutcome({ action: 'reboot', label }, outcome);

it('a workflow’s step says that Slack refused its message, and doesn’t blame the hosting API', () => {
  for (const reason of ['no_answer', 'rate_limited', 'unauthorized', 'not_in_channel'])
    expect(said({ code: 'not_posted', details: { reason } })).not.toMatch(/hosting|key/);
  expect(said({ code: 'not_posted', details: { reason: 'not_in_channel' } })).toBe(
    'The message with the button couldn’t be posted in the channel (not in channel). Nothing was done.',
  );
});

it('the outputs of a workflow’s step mention no one and link nothing, whatever servers and states are called', () => {
  const name = '<!channel> <@U1> <https://evil.example|web-1>';
  const outcomes: readonly RunOutcome[] = [
    { code: 'done', details: { label: name, state: name } },
    { code: 'unconfirmed', details: { state: name } },
    { code: 'unknown_server', details: {} },
  ];
  for (const outcome of outcomes) {
    expect(said(outcome, name)).not.toMatch(/[<>]/);
    expect(said(outcome, name)).toContain('‹!channel›');
  }
});

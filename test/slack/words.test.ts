import { describe, expect, it, test } from 'vitest';
import { describeAct, describeChanges } from '../../src/account/audit-sentence.ts';
import { AUDIT_ACTIONS, auditRoles } from '../../src/core/audit-entry.ts';
import { HostingError, Refusal, type RefusalCode, type RefusalDetails } from '../../src/core/errors.ts';
import { money } from '../../src/core/money.ts';
import { outcomeWords } from '../../src/purchases/outcomes.ts';
import { operationsOf } from '../../src/sandbox/gallery/fixtures/purchases.ts';
import { HOSTING_CODES, REFUSAL_CODES, sampleDetails } from '../../src/sandbox/gallery/fixtures/reasons.ts';
import { makeEntry, makeOperation, NASTY_LABELS, NOW } from '../../src/sandbox/gallery/fixtures/samples.ts';
import { readTypedMessage } from '../../src/slack/dispatch-events.ts';
import { parseTyped, splitSubcommand } from '../../src/slack/kit/typed-words.ts';
import { wordsOfError, wordsOfHosting, wordsOfRefusal } from '../../src/words.ts';
import { startCpuTimer } from '../support/cpu-time.ts';
import { EVENT_SAMPLES, SENDERS } from '../support/payloads/samples.ts';

const words = (code: RefusalCode, label = 'web-1', currency = 'EUR') =>
  wordsOfRefusal(code, sampleDetails(label)[code], currency);

const everyWord = [
  ...REFUSAL_CODES.map((code) => [code, words(code)] as const),
  ...HOSTING_CODES.map((code) => [code, wordsOfHosting({ code })] as const),
];

/** Slack writes times in marks of its own. */
/** People that we mention by id, as the words of the app do. */
const withoutIds = (text: string) => text.replaceAll(/<@U0OWNER0001>/g, '');
const withoutDates = (text: string) => text.replace(/<!date\^\d+\^[^>]*>/g, '');

/** The refusals that may end a confirmed purchase. */
const MONEY_CODES = [
  'price_moved',
  'already_renewed',
  'paid_until_unknown',
  'create_in_doubt',
  'create_in_doubt_elsewhere',
  'label_taken',
  'renewed_elsewhere',
  'stale_confirmation',
  'waited_too_long',
  'shutting_down',
] as const;

const SAYS_WHERE_THE_MONEY_IS =
  /nothing (more |else )?(was|is) (charged|ordered|sent|paid)|charge is back|return the charge|charged (once|twice)|back on the balance/i;

describe('the words for an error', () => {
  it.each(everyWord)('%s are a sentence for users', (_code, text) => {
    expect(text).toMatch(/^[A-Z`\d]/);
    // What is to be typed may come last, in its own marks.
    expect(text).toMatch(/([.?]|`)$/);
    expect(text.length).toBeGreaterThan(20);
    expect(text.length).toBeLessThan(500);
  });

  it.each(everyWord)('%s contain no stack, no code and no `undefined`', (code, text) => {
    expect(text).not.toMatch(/undefined|null|NaN|\[object|\bat .*:\d+:\d+|Error:|0x/);
    expect(withoutDates(text)).not.toMatch(/\b[a-z]+_[a-z_]+\b/);
    expect(text).not.toContain(`${code}:`);
  });

  it.each(REFUSAL_CODES)('%s work without the optional details', (code) => {
    const details: RefusalDetails[typeof code] = { ...sampleDetails('web-1')[code] };
    for (const name of ['nearest', 'held', 'owners', 'by']) Reflect.deleteProperty(details, name);
    expect(wordsOfRefusal(code, details, '')).not.toMatch(/undefined|\?\?| {2}/);
  });

  it.each(REFUSAL_CODES)('%s never let a label ping or link', (code) => {
    for (const label of NASTY_LABELS) {
      expect(withoutIds(withoutDates(words(code, label)))).not.toMatch(/[<>]/);
    }
  });

  it('for an undocumented API error quote the error', () => {
    const error = new HostingError('unknown_code', 'maybe', { unknownCode: '<!here> maintenance' });
    expect(wordsOfError(error, '')).toMatch(/unknown error.*`&lt;!here&gt; maintenance`/);
  });

  it('name the currency only if the operator set one', () => {
    expect(words('price_moved', 'x', 'EUR')).toContain('from 5.90 EUR/month to 6.90 EUR/month');
    expect(words('price_moved', 'x', '')).toContain('from 5.90/month to 6.90/month');
  });

  it('say what to do', () => {
    expect(wordsOfError(new Refusal('unknown_server', { typed: 'wbe', nearest: 'web' }), '')).toBe(
      'No server matches `wbe`. Did you mean `web`?',
    );
    expect(words('role_needed')).toMatch(/\*manager\*.*you’re a \*viewer\*.*<@U0OWNER0001> can grant it/);
    expect(words('no_api_key')).toContain('/vps connect');
    expect(wordsOfHosting({ code: 'not_enough_balance' })).toContain('Top it up');
    expect(wordsOfHosting({ code: 'not_allowed' })).toContain('first top-up');
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
    [{ action: 'password' }, `${MARA} viewed the root password of \`web-1\``],
    [{ action: 'create', money: money(590) }, `${MARA} created \`web-1\` (5.90 EUR)`],
    [
      { action: 'start', label: 'nope', outcome: 'failed', code: 'unknown_server' },
      `${MARA} couldn’t start \`nope\`: no such server`,
    ],
    [
      { action: 'connect', outcome: 'failed', code: 'unauthorized' },
      `${MARA} couldn’t connect the hosting account: key rejected`,
    ],
    [
      { action: 'delete', outcome: 'denied', code: 'role_needed' },
      `${MARA} tried to delete \`web-1\` and was denied: no permission`,
    ],
    [
      { action: 'renew', outcome: 'in_doubt', code: 'no_answer' },
      `${MARA} tried to renew \`web-1\`; the outcome is unconfirmed: the hosting API didn’t answer`,
    ],
    [{ action: 'create', code: 'decided' }, `${MARA} decided that \`web-1\` was created`],
    [
      { action: 'renew', outcome: 'failed', code: 'decided' },
      `${MARA} decided that \`web-1\` was not renewed`,
    ],
    [{ action: 'approval_answer', code: 'denied' }, `${MARA} declined the approval request for \`web-1\``],
    [
      { action: 'approval_answer', outcome: 'failed', code: 'price_moved' },
      'The approval request for `web-1` was canceled: the price has changed',
    ],
    [
      {
        action: 'access_grant',
        details: auditRoles([{ role: 'operator', pattern: 'web-*', subjectId: NORA, forMs: 480 * 60_000 }]),
      },
      `${MARA} granted <@U0NORA00001> the *operator* role for \`web-*\`, for 8 hours`,
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
      `${MARA} declined <@U0NORA00001>’s request for the *owner* role`,
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
            { name: 'currency', after: 'EUR' },
          ],
        },
      },
      `${MARA} changed the settings\n• Purchase freeze: off → on (by <@U0OWNER0001>)\n• Deletions need approval: on → off\n• Currency: default → EUR`,
    ],
    [
      {
        action: 'access_answer',
        details: { ...auditRoles([{ role: 'viewer', pattern: 'U-1', subjectId: NORA }]), answer: 'approve' },
      },
      `${MARA} approved <@U0NORA00001>’s request for the *viewer* role for \`U-1\``,
    ],
    [
      { action: 'access_revoke', details: { kind: 'every_role', subjectId: NORA } },
      `${MARA} revoked every role of <@U0NORA00001>`,
    ],
    [{ action: 'audit_prune', actorId: 'app' }, 'The app removed old audit entries'],
  ] as const)('%j', (more, words) => {
    expect(say({ ...more })).toBe(words);
  });

  test('with its channel named before the reason', () => {
    const failed = makeEntry(1, { action: 'start', outcome: 'failed', code: 'unknown_server' });
    expect(describeAct(failed, '')).toBe(`${MARA} couldn’t start \`web-1\` in <#C0OPS00001>: no such server`);
  });

  test('without internal codes, whatever the action', () => {
    for (const action of AUDIT_ACTIONS)
      expect(say({ action, outcome: 'failed', code: 'defect' })).not.toMatch(/[a-z]_[a-z]|%|undefined/);
  });

  test('even if another version wrote it, and names its action', () => {
    expect(say({ action: 'fly_away', outcome: 'failed', code: 'no_wings' })).toBe(
      `${MARA} couldn’t do \`fly_away\`: no wings`,
    );
  });

  test('in which a label never formats, pings or links', () => {
    const label = '<!here> *x* <http://a|b>';
    for (const action of AUDIT_ACTIONS)
      for (const more of [{}, { details: auditRoles([{ role: 'viewer', pattern: label }]) }])
        expect(say({ action, label, ...more })).not.toMatch(/<!here>|<http/);
  });
});

test.each([
  ['command', 'C0OPS000001', ' in <#C0OPS000001>'],
  ['direct_message', 'D0OTTO00001', ' in a direct message'],
  ['command', 'D0OTTO00001', ' in a direct message'],
  ['home', 'D0OTTO00001', ' on Home'],
  ['workflow', undefined, ''],
  ['cli', undefined, ' on the command line'],
  // A card or form may have been opened on Home or in a direct message: both have the same conversation.
  ['button', 'D0OTTO00001', ''],
  ['modal', 'D0OTTO00001', ''],
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

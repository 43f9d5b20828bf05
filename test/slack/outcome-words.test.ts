import { describe, expect, it, test } from 'vitest';
import { Refusal, type UncheckedReason } from '../../src/core/errors.ts';
import { isProven, labelOf, type Operation, type OperationRefusal } from '../../src/purchases/operation.ts';
import { outcomeMessage, outcomeWords } from '../../src/purchases/outcomes.ts';
import {
  answeredWords,
  approvalCard,
  approvalMessage,
  approvalWords,
  describeDecision,
} from '../../src/requests/approval-card.ts';
import {
  type Approval,
  type ApprovalAction,
  type ClosedState,
  REQUEST_STATES,
  type RoleRequestState,
} from '../../src/requests/request.ts';
import { operationsOf } from '../../src/sandbox/gallery/fixtures/purchases.ts';
import {
  CANCEL_REASONS,
  DELETE_ENDS,
  HOSTING_CODES,
  refusalsOf,
  unconfirmedReasons,
} from '../../src/sandbox/gallery/fixtures/reasons.ts';
import {
  makeApproval,
  makeDelete,
  makeOperation,
  NOW,
  ORDER,
} from '../../src/sandbox/gallery/fixtures/samples.ts';
import { deletedAnnouncement, deleteMessage, deleteWords } from '../../src/servers/delete-outcome.ts';
import { wordsOfError } from '../../src/words.ts';
import { describeOutcome } from '../../src/workflows/card.ts';
import type { RunOutcome } from '../../src/workflows/run.ts';

const LABEL = 'web-1';
const ACTIONS: readonly ApprovalAction[] = [
  { kind: 'delete', serverId: 7, label: LABEL },
  { kind: 'purchase', purchase: { kind: 'create', order: { ...ORDER, label: LABEL } } },
  { kind: 'purchase', purchase: { kind: 'renew', serverId: 7, label: LABEL, paidUntil: NOW } },
];
const decided = { decidedBy: 'U0OWNER0001', decidedAt: NOW };

const canceled = ACTIONS.flatMap((action) =>
  CANCEL_REASONS.map((reason) => ({
    code: reason.code,
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
  const answered = approval.state === 'canceled' ? [answeredWords(approval)] : [];
  return [approvalWords(approval), describeDecision(approval, 'EUR'), ...answered];
}

const withoutMarks = (text: string) => text.replaceAll(/<[^>]*>/g, '').replaceAll(/`[^`]*`/g, '');

describe('the outcome of an approval', () => {
  it.each(canceled)('is explained without codes: $code, $kind $approval.state (%#)', ({ approval }) => {
    for (const words of listWords(approval)) {
      expect(withoutMarks(words)).not.toMatch(/\b[a-z]+_[a-z_]+\b|undefined|null|\[object/);
      expect(words).toMatch(/[.]$/);
    }
  });

  it.each(canceled)('names the server to the requester: $code, $kind $approval.state (%#)', ({
    approval,
  }) => {
    expect(approvalWords(approval)).toContain(`\`${LABEL}\``);
    expect(approvalMessage(approval).text).toContain(LABEL);
  });

  it.each(canceled)('names the server in the card: $code, $kind $approval.state (%#)', ({ approval }) => {
    expect(JSON.stringify(approvalCard(approval, 'EUR'))).toContain(LABEL);
  });
});

describe('the outcome of a delete that nobody waits for', () => {
  const [approver, user] = ['U0OWNER0001', '<@U0MANAGER01>'];

  it.each(ended)('is explained without codes, and names the server: $end', ({ deletion }) => {
    for (const words of [deleteWords(deletion, 'EUR'), deleteWords(deletion, 'EUR', approver)]) {
      expect(withoutMarks(words)).not.toMatch(/\b[a-z]+_[a-z_]+\b|undefined|null|\[object/);
      expect(words).toMatch(/[.]$/);
      expect(words).toContain(`\`${LABEL}\``);
    }
  });

  it.each(ended)('is in the card of an approved one, and in the message to its requester: $end', ({
    deletion,
  }) => {
    const words = deleteWords(deletion, 'EUR', approver);
    const facts = { ...decided, kind: 'delete', serverId: 42, label: LABEL, deletion } as const;
    const approval = makeApproval(facts, { state: 'approved' });
    expect(describeDecision(approval, 'EUR')).toBe(`*Approved* by <@${approver}>. ${words}`);
    expect(deleteMessage(deletion, 'EUR', approver).text).toBe(`<@${approver}> approved. ${words}`);
    expect(deleteMessage(deletion, 'EUR').text).toBe(deleteWords(deletion, 'EUR'));
  });

  it.each(ended.filter(({ end }) => end !== 'settled'))('never claims that the server was deleted: $end', ({
    deletion,
  }) => {
    expect(deleteWords(deletion, '')).toMatch(
      /wasn’t deleted[:.]|`web-1` can’t be deleted|not sure whether (`web-1`|it) was deleted/,
    );
  });

  it('names the key if it is an unreadable key', () => {
    const reason = { code: 'key_unreadable', details: { keyId: 'k1' } } as const;
    const words = deleteWords(makeDelete(LABEL, { state: 'refused', reason }), '');
    expect(words).toMatch(/`web-1` wasn’t deleted\. .*`k1`/);
  });

  it('is announced with the user who confirmed it, and the one who approved it, if there is one', () => {
    const deletion = makeDelete(LABEL);
    expect(deletedAnnouncement(deletion, undefined).text).toBe(`${user} deleted \`web-1\``);
    const words = `${user} deleted \`web-1\`, approved by <@${approver}>`;
    expect(deletedAnnouncement(deletion, approver).text).toBe(words);
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
    const words = wordsOfError(new Refusal('not_approved', { reason }), '');
    expect(withoutMarks(words)).not.toMatch(/\b[a-z]+_[a-z_]+\b|undefined|unexpected/);
    expect(words).toMatch(
      /Nothing was approved\. The request is still pending, so you can approve it later\.$/,
    );
  });
});

const EUR = { currency: 'EUR' };
const NONE = { currency: '' };
const withoutDates = (text: string) => text.replace(/<!date\^\d+\^[^>]*>/g, '');
const refused = (reason: OperationRefusal) => outcomeWords(makeOperation({ state: 'refused', reason }), EUR);
const endedOrders: readonly [string, Operation][] = operationsOf('web-1').map((operation) => [
  [operation.purchase.kind, operation.state, operation.reason?.code ?? ''].join(' '),
  operation,
]);
const refusals = refusalsOf('web-1').map((reason) => [reason.code, reason] as const);

describe('the words for the outcome of an order', () => {
  test.each(endedOrders)('name the server (%s, sample %#)', (_name, operation) => {
    expect(outcomeWords(operation, EUR)).toContain(labelOf(operation.purchase));
  });

  test.each(endedOrders)('never show an internal code (%s, sample %#)', (_name, operation) => {
    const shown = JSON.stringify(outcomeMessage(operation, NONE).blocks);
    const words = withoutDates(outcomeWords(operation, NONE));
    expect(words).not.toMatch(/[a-z]_[a-z]|undefined|\[object|null/);
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

  test('say that a manager resolved the order, if a manager did', () => {
    expect(refused({ code: 'decided_not_done', details: {} })).toMatch(/`web-1` wasn’t created.*manager/);
  });

  test.each(
    unconfirmedReasons.map((reason) => [reason.code, reason] as const),
  )('never claim an outcome while the order is unconfirmed (%s)', (_code, reason) => {
    for (const needsDecision of [false, true]) {
      const operation = makeOperation({ state: 'unconfirmed', reason, needsDecision });
      const words = outcomeWords(operation, NONE);
      expect(words).toMatch(/not sure yet|can’t tell/);
      expect(words).not.toMatch(/wasn’t created|nothing was charged|order again/i);
    }
  });
});

const words = (outcome: RunOutcome, label = 'web-1') => describeOutcome({ action: 'reboot', label }, outcome);

it('a workflow’s step says that Slack refused its message, and doesn’t blame the hosting API', () => {
  for (const reason of ['no_answer', 'rate_limited', 'unauthorized', 'not_in_channel'])
    expect(words({ code: 'not_posted', details: { reason } })).not.toMatch(/hosting|key/);
  expect(words({ code: 'not_posted', details: { reason: 'not_in_channel' } })).toBe(
    'The message with the button couldn’t be posted in the channel (not in channel). Nothing was done.',
  );
});

it('a workflow’s step doesn’t claim that its message wasn’t posted when Slack didn’t answer', () => {
  expect(words({ code: 'not_posted', details: { reason: 'no_answer' } })).toBe(
    'Slack didn’t say whether the message with the button was posted in the channel. Nothing was done, and that button does nothing.',
  );
});

it('the outputs of a workflow’s step mention no one and link nothing, whatever servers and states are called', () => {
  const name = '<!channel> <@U1> <https://evil.example|web-1>';
  const outcomes: readonly RunOutcome[] = [
    { code: 'done', details: { label: name, state: name } },
    { code: 'unconfirmed', details: { state: name } },
    { code: 'unknown_server', details: {} },
    { code: 'wrong_state', details: { state: name } },
  ];
  for (const outcome of outcomes) {
    expect(words(outcome, name)).not.toMatch(/[<>]/);
    expect(words(outcome, name)).toContain('‹!channel›');
  }
});

const CLOSED: readonly ClosedState[] = [...REQUEST_STATES.filter((state) => state !== 'open'), 'unknown'];
const ROLE_STATES = REQUEST_STATES.filter(
  (state): state is RoleRequestState => !['running', 'ended', 'canceled'].includes(state),
);

describe('a request that can’t be answered anymore', () => {
  it.each(CLOSED)('is described as %s, in a whole sentence', (state) => {
    const words = wordsOfError(new Refusal('request_over', { state, by: 'U0OWNER0001' }), '');
    expect(words).toMatch(/^This request .*\.$/);
    expect(words).not.toMatch(/undefined|_/);
  });
});

describe('an earlier request for a role', () => {
  it.each(ROLE_STATES)('that is %s is described', (state) => {
    const details = { at: NOW, state, againAt: NOW + 1 };
    const words = wordsOfError(new Refusal('asked_before', details), '');
    expect(words).toMatch(/^(You requested this|An owner declined this) on .*/);
    expect(words).not.toMatch(/undefined/);
  });
});

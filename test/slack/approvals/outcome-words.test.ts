import { describe, expect, it } from 'vitest';
import { Refusal, type UncheckedReason } from '../../../src/core/errors.ts';
import {
  answeredWords,
  approvalCard,
  approvalMessage,
  approvalWords,
  describeDecision,
} from '../../../src/requests/approval-card.ts';
import type { Approval, ApprovalAction } from '../../../src/requests/request.ts';
import { CANCEL_REASONS, DELETE_ENDS, HOSTING_CODES } from '../../../src/sandbox/gallery/fixtures/reasons.ts';
import { makeApproval, makeDelete, NOW, ORDER } from '../../../src/sandbox/gallery/fixtures/samples.ts';
import { deletedAnnouncement, deleteMessage, deleteWords } from '../../../src/servers/delete-outcome.ts';
import { wordsOfError } from '../../../src/words.ts';

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

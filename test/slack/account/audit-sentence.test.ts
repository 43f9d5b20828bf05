import { describe, expect, test } from 'vitest';
import { describeAct } from '../../../src/account/audit-sentence.ts';
import { AUDIT_ACTIONS } from '../../../src/core/audit-entry.ts';
import { money } from '../../../src/core/money.ts';
import { makeEntry } from '../../../src/sandbox/gallery/fixtures/samples.ts';

const say = (more: Parameters<typeof makeEntry>[1]) => {
  const { channelId: _, ...entry } = makeEntry(1, more);
  return describeAct(entry, 'EUR');
};
const MARA = '<@U0MANAGER01>';
const FREEZE = 'freeze none → U0OWNER0001 2026-09-21T14:13:20.000Z';

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
      { action: 'access_grant', label: 'operator web-* U0NORA00001 for 480 min' },
      `${MARA} granted <@U0NORA00001> the *operator* role for \`web-*\`, for 8 hours`,
    ],
    [
      { action: 'access_answer', label: 'deny owner U0NORA00001' },
      `${MARA} declined <@U0NORA00001>’s request for the *owner* role`,
    ],
    [
      { action: 'access_revoke', label: 'viewer S0ONCALL01, operator C0OPS00001' },
      `${MARA} revoked the *viewer* role of <!subteam^S0ONCALL01> and the *operator* role of <#C0OPS00001>`,
    ],
    [
      { action: 'settings_change', label: `${FREEZE}, approval.delete true → false, currency none → EUR` },
      `${MARA} changed the settings: Purchase freeze off → on (by <@U0OWNER0001>), Approval for deletions on → off, Currency default → EUR`,
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
    for (const action of AUDIT_ACTIONS)
      expect(say({ action, label: '<!here> *x* <http://a|b>' })).not.toMatch(/<!here>|<http/);
  });
});

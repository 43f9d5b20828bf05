import { describe, expect, test } from 'vitest';
import { describeAct, describeChanges } from '../../../src/account/audit-sentence.ts';
import { AUDIT_ACTIONS, auditRoles } from '../../../src/core/audit-entry.ts';
import { money } from '../../../src/core/money.ts';
import { makeEntry } from '../../../src/sandbox/gallery/fixtures/samples.ts';

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

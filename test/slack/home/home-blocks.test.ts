import type { KnownBlock } from '@slack/types';
import { expect, test } from 'vitest';
import type { Role } from '../../../src/core/roles.ts';
import { homeBlocks } from '../../../src/home/home.ts';
import type { HomeServer } from '../../../src/home/home-servers.ts';
import type { Home } from '../../../src/home/read-home.ts';
import { makeRoleRequest, makeServer, NOW } from '../../../src/sandbox/gallery/fixtures/samples.ts';

const NO_REQUESTS = { approvals: [], access: [] };
const EMPTY: Home = {
  ...{ servers: { kind: 'no_role' }, open: [], unsaved: [], needsInstall: false },
  ...{ decisions: NO_REQUESTS, own: NO_REQUESTS },
};

const show = (home: Partial<Home>) =>
  homeBlocks({ ...EMPTY, ...home }, { now: NOW, currency: 'EUR', accountUrl: undefined, isWelcome: false });
const wordsIn = (blocks: readonly KnownBlock[]) => JSON.stringify(blocks);

function listed(role: Role, servers: readonly Partial<HomeServer>[], urgent = 0): Partial<Home> {
  const shown = servers.map((each, at) => ({
    ...{
      server: makeServer({ id: at + 1, label: `web-${at + 1}` }),
      role,
      isExpiring: false,
      isUrgent: false,
      isProtected: false,
    },
    ...each,
  }));
  const list = { total: shown.length, page: 0, pages: 1, urgent, readAt: NOW, isComplete: true };
  return { role, servers: { kind: 'listed', shown, ...list } };
}

test('Home begins with a header, not with a divider', () => {
  expect(show(listed('viewer', [{}]))[0]?.type).toBe('header');
  const blocks = show({ ...listed('viewer', [{}]), unsaved: [{ id: 1, label: 'web-1' }] });
  expect(blocks.map(({ type }) => type).indexOf('divider')).toBeGreaterThan(0);
});

test('Home with an unsaved password doesn’t say that nothing needs attention', () => {
  const words = wordsIn(show({ ...listed('manager', [{}]), unsaved: [{ id: 1, label: 'web-1' }] }));
  expect(words).toContain('Needs your attention');
  expect(words).not.toContain('Nothing needs attention');
  expect(words).toContain('No server needs attention');
});

test('a server that expires soon is marked on Home also for users who can’t renew it', () => {
  const [first, second] = show(listed('viewer', [{ isExpiring: true }, {}], 1)).filter(
    (block) => block.type === 'section' && 'accessory' in block,
  );
  expect(wordsIn(first ? [first] : [])).toContain('⚠️ *12 days left*');
  expect(wordsIn(second ? [second] : [])).not.toContain('⚠️');
});

test('Home has power buttons only for servers that need attention; others have Manage', () => {
  const buttons = (home: Partial<Home>) => wordsIn(show(home)).match(/"(Reboot|Stop|Manage)"/g);
  expect(buttons(listed('operator', [{}]))).toEqual(['"Manage"']);
  expect(buttons(listed('operator', [{ isUrgent: true }]))).toEqual(
    expect.arrayContaining(['"Reboot"', '"Stop"', '"Manage"']),
  );
});

test('Home says why a protected server has no buttons to stop or reboot it', () => {
  expect(wordsIn(show(listed('operator', [{ isProtected: true }])))).toContain('🔒 protected');
  expect(wordsIn(show(listed('operator', [{}])))).not.toContain('🔒');
});

test('Home offers no request for access to a user with an open request', () => {
  expect(wordsIn(show({}))).toContain('Ask for access');
  const asked = wordsIn(show({ own: { approvals: [], access: [makeRoleRequest()] } }));
  expect(asked).not.toContain('Ask for access');
  expect(asked).toContain('Withdraw request');
  expect(asked).toContain('An owner has to answer your request first');
});

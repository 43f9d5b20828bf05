import { describe, expect, test } from 'vitest';
import type { NewMessageCommand } from '../../../src/app/messages/ports.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { engines, stillSystem, T0 } from '../support.ts';

const NOW = { now: T0, dueAt: T0 + 100, keptFrom: T0 };

function newCommand(more: Partial<NewMessageCommand> = {}): NewMessageCommand {
  return {
    id: stillSystem.newId(),
    workspaceId: 'T1',
    userId: 'U1',
    kind: 'mention',
    channelId: 'C1',
    name: 'reboot',
    ...more,
  };
}

describe.each(engines)('commands in messages, on $name', ({ make }) => {
  test('are stored once, whichever of their IDs is delivered again', async () => {
    const { messageCommands } = await make();
    const thread = { ts: '1.1', isOpen: true };
    const command = newCommand({ thread, homeTeamId: 'T2' });
    expect(await messageCommands.receive(command, ['Ev1', 'C1 1.2'], NOW)).toBe(true);
    expect(await messageCommands.receive(newCommand(), ['Ev1', 'C1 1.3'], NOW)).toBe(false);
    expect(await messageCommands.receive(newCommand(), ['Ev2', 'C1 1.2'], NOW)).toBe(false);
    expect(await messageCommands.receive(newCommand(), ['Ev3', 'C1 1.3'], NOW)).toBe(false);
    const stored = {
      ...command,
      ...{ receivedAt: T0, hasBegun: false, servers: [], dueAt: T0 + 100, isClaimed: false },
    };
    expect(await messageCommands.listDue(T0 + 100, 10)).toEqual([stored]);
    expect(await messageCommands.listDue(T0 + 99, 10)).toEqual([]);
  });

  test('that are delivered several times at once are stored once', async () => {
    const { messageCommands } = await make();
    const command = newCommand();
    const tries = Array.from({ length: 5 }, () => messageCommands.receive(command, ['Ev1', 'C1 1.2'], NOW));
    expect((await Promise.all(tries)).filter(Boolean)).toEqual([true]);
  });

  test('can’t change anything once they are claimed, and are claimed by only one process', async () => {
    const { messageCommands } = await make();
    const command = newCommand();
    await messageCommands.receive(command, ['Ev1'], NOW);
    await messageCommands.renew(command, T0 + 200);
    // What was listed before it was renewed, or before it began, is not true any more.
    expect(await messageCommands.claim({ ...command, dueAt: NOW.dueAt }, T0 + 300)).toBe(false);
    const servers = [{ id: 1, label: 'web-1' }];
    expect(await messageCommands.begin(command, servers, T0 + 250)).toBe(true);
    expect(await messageCommands.claim({ ...command, dueAt: T0 + 200 }, T0 + 300)).toBe(false);
    expect(await messageCommands.begin({ ...command, workspaceId: 'T2' }, servers, T0)).toBe(false);
    const listed = { ...command, dueAt: T0 + 250 };
    const claims = await Promise.all([1, 2].map(() => messageCommands.claim(listed, T0 + 300)));
    expect(claims.sort()).toEqual([false, true]);
    expect(await messageCommands.begin(command, [], T0 + 900)).toBe(false);
    await messageCommands.renew(command, T0 + 900);
    expect(await messageCommands.claim({ ...command, dueAt: T0 + 300 }, T0 + 300)).toBe(false);
    expect(await messageCommands.listDue(T0 + 300, 10)).toMatchObject([
      { hasBegun: true, servers, isClaimed: true },
    ]);
    await messageCommands.release(command, T0 + 400);
    expect(await messageCommands.begin(command, [], T0 + 900)).toBe(false);
    await messageCommands.renew(command, T0 + 900);
    expect(await messageCommands.listDue(T0 + 400, 10)).toMatchObject([{ isClaimed: false }]);
    expect(await messageCommands.claim({ ...command, dueAt: T0 + 400 }, T0 + 500)).toBe(true);
  });

  test('are removed once they are answered, or after a day', async () => {
    const { messageCommands } = await make();
    const [answered, old] = [newCommand(), newCommand()];
    await messageCommands.receive(answered, ['Ev1'], { ...NOW, now: T0 + 1 });
    await messageCommands.receive(old, ['Ev2'], NOW);
    await messageCommands.removeBefore(T0 + 1);
    expect(await messageCommands.listDue(T0 + 100, 10)).toMatchObject([{ id: answered.id }]);
    await messageCommands.remove({ ...answered, workspaceId: 'T2' });
    expect(await messageCommands.listDue(T0 + 100, 10)).toHaveLength(1);
    await messageCommands.remove(answered);
    expect(await messageCommands.listDue(T0 + 100, 10)).toEqual([]);
  });

  test('are erased when their workspace uninstalls the app, so that nothing more may be changed', async () => {
    const { installationStore, messageCommands } = await make();
    const installed = await installationStore.install(
      {
        ...{ id: 'T1', isOrg: false, name: 'Acme', installedBy: 'U1', installedAt: T0, scopes: [] },
        tokens: { bot: new Secret('xoxb') },
      },
      () => [],
    );
    const [ours, theirs] = [newCommand(), newCommand({ workspaceId: 'T2' })];
    await messageCommands.receive(ours, ['Ev1'], NOW);
    await messageCommands.receive(theirs, ['Ev2'], NOW);
    await installationStore.erase(installed, () => []);
    expect(await messageCommands.begin(ours, [], T0)).toBe(false);
    expect(await messageCommands.listDue(T0 + 100, 10)).toMatchObject([{ id: theirs.id }]);
  });
});

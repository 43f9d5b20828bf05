import { describe, expect, it } from 'vitest';
import { commands } from '../src/commands.ts';
import { ROLES, roleCovers } from '../src/core/roles.ts';
import { allCommands, getCommand, helpMessage } from '../src/help.ts';
import { home } from '../src/home/home.ts';
import { NOW } from '../src/sandbox/gallery/fixtures/samples.ts';
import { fakeRequest } from './slack/support/fakes.ts';

const everyId = (of: 'actions' | 'modals' | 'suggestions') =>
  [...commands, home].flatMap((command) => command[of].map(({ id }) => id));

/** Runs a command as it was typed; `entered` is what it asks of the use cases. */
function run(text: string) {
  const request = fakeRequest();
  const [name = '', ...rest] = text.split(' ');
  const running = getCommand(name, commands, '/vps ').run(rest.join(' '), request);
  return { running, entered: request.entered };
}

async function type(text: string) {
  const { running, entered } = run(text);
  await running;
  return entered;
}

describe('the commands', () => {
  it('have unique names, and unique IDs of buttons, modals and menus', () => {
    for (const ids of [
      commands.map(({ name }) => name),
      everyId('actions'),
      everyId('modals'),
      everyId('suggestions'),
    ]) {
      expect(ids).toEqual([...new Set(ids)]);
    }
  });

  it.each(
    commands.map((command) => [command.name, command] as const),
  )('%s has its usage in one line of help', (name, { usage, summary }) => {
    expect(usage === name || usage.startsWith(`${name} `)).toBe(true);
    expect(summary).toMatch(/^[A-Z][^.\n]+[^.\s]$/);
  });

  it('are parsed from what was typed', async () => {
    expect(await type('show “web 1”')).toMatchObject([['show', { ref: { typed: 'web 1' } }]]);
    expect(await type('audit web-1 <@U012AB3CD|ann>')).toMatchObject([
      ['audit', { server: 'web-1', actorId: 'U012AB3CD' }],
    ]);
    expect(await type('access grant <#C012AB3CD|ops> viewer for 2d on *')).toMatchObject([
      [
        'access_grant',
        { subjectKind: 'channel', subjectId: 'C012AB3CD', pattern: '', forMs: 2 * 86_400_000 },
      ],
    ]);
    expect(await type('audit since=24h')).toMatchObject([['audit', { since: NOW - 86_400_000 }]]);
  });

  it('act once on each of several servers, whatever separates the names', async () => {
    expect(await type('stop web-1,web-2 web-1  db')).toMatchObject([
      ['stop', { ref: { typed: 'web-1' } }],
      ['stop', { ref: { typed: 'web-2' } }],
      ['stop', { ref: { typed: 'db' } }],
    ]);
  });

  it.each([
    [`stop ${Array.from({ length: 21 }, (_, at) => `web-${at}`).join(' ')}`, 'up to 20'],
    ['create web 1', 'Put quotes around a label with spaces: label="web 1"'],
    ['create plan=small label=db one two', 'label="db one two"'],
    ['create web-1 label=db', 'We didn’t understand “web-1”'],
    ['create lable=db', 'Did you mean “label=db”?'],
    ['create size=small', 'There’s no option “size”. For example: /vps create plan=small'],
    ['create plan= small', '“plan=” needs a value'],
    ['access grant ann viewer', '“ann” isn’t a user'],
    ['access grant <@U012AB3CD> viewer web-1', 'We didn’t understand “web-1”'],
    ['access grant <@U012AB3CD> viewer on', 'After “on”'],
    ['access grant <@U012AB3CD> viewer for 0h', 'After “for”'],
    ['access revoke <@U012AB3CD> viewer', 'removes all roles'],
    ['access revoke <@U012AB3CD> on web-*', 'removes all roles'],
    ['access grant <@U012AB3CD> viewer on web-* on db-*', 'We didn’t understand “on”'],
    ['access ask manager for web-1', 'Use “on web-1” to ask for one server'],
    ['access ask boss', 'There’s no “boss” role'],
    ['access revok <@U012AB3CD>', 'Did you mean “access revoke”?'],
    ['audit since 2026-02-31', 'After “since”'],
    ['access grant <@U012AB3CD> vewer', 'Did you mean viewer?'],
    ['access dance', 'There’s no “access dance” command'],
    ['connect sk-live-1234', 'Never paste an API key into Slack'],
  ])('%s is explained, and nothing is done', async (text, words) => {
    const { running, entered } = run(text);
    await expect(running).rejects.toMatchObject({ code: 'bad_words', details: { usage: /^\/vps / } });
    await running.catch(({ details }: { details: { problem: string } }) =>
      expect(details.problem).toContain(words),
    );
    expect(entered).toEqual([]);
  });

  it('never repeat an API key that was typed', async () => {
    const error = await run('connect sk-live-1234').running.catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).not.toContain('sk-live-1234');
  });
});

describe('help', () => {
  const usages = (role: (typeof ROLES)[number] | undefined) =>
    JSON.stringify(helpMessage(commands, role)).match(/\/vps [a-z]+/g) ?? [];

  it.each([
    undefined,
    ...ROLES,
  ])('for the role %s shows each command that the user may run once, and no other', (role) => {
    const allowed = commands.filter(({ needs }) => needs === 'anyone' || roleCovers(role, needs));
    const blocks = allCommands(commands, role).blocks.filter(({ type }) => type === 'section');
    const shown = JSON.stringify(blocks).match(/`\/vps [a-z]+/g) ?? [];
    expect([...shown].sort()).toEqual(allowed.map(({ name }) => `\`/vps ${name}`).sort());
  });

  it('has an example of every command that takes arguments', () => {
    const bare = commands.filter(({ usage, name, example }) => usage !== name && example === name);
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  it('tells a user without a role how to get one', () => {
    expect(usages(undefined)).toContain('/vps access');
    expect(usages('viewer')).not.toContain('/vps access');
  });
});

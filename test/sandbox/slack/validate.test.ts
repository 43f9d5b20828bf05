import { describe, expect, it } from 'vitest';
import { modal, plain, section, startBoth } from './support/fake-app.ts';

const badSection = { type: 'section', text: { type: 'text', text: 'hi' } };

describe('blocks.validate', () => {
  it('points at what it refuses, also in JSON within a form', async () => {
    const { slack, app } = await startBoth();
    slack.faults.refuseBlock('divider');
    for (const [args, error, pointer] of [
      [{ message: { blocks: [section('hi'), badSection] } }, 'invalid_message', '/blocks/1/text'],
      [{ message: { text: 'hi', blocks: [] } }, 'invalid_message', '/text'],
      [{ view: modal([], { title: plain('x'.repeat(25)) }) }, 'invalid_view', '/title/text'],
      [{ view: modal([{ type: 'divider' }]) }, 'invalid_view', '/blocks/0/type'],
    ] as const) {
      const refused = { ok: false, error, errors: [expect.objectContaining({ pointer })] };
      expect(await app.call('blocks.validate', args)).toMatchObject(refused);
      const fields = Object.entries(args).map(([kind, value]) => [kind, JSON.stringify(value)]);
      const answer = await fetch(`${slack.apiUrl}blocks.validate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${slack.app.botToken}` },
        body: new URLSearchParams(Object.fromEntries(fields)),
      });
      expect(await answer.json()).toMatchObject(refused);
    }
  });
});

describe('users.list', () => {
  const scopes = ['users:read'];

  it('gives fewer users than were asked for, and the cursor of the next ones', async () => {
    const { app } = await startBoth({ app: { scopes } });
    const names: unknown[] = [];
    let cursor = '';
    do {
      const page = await app.call('users.list', { limit: 999, cursor });
      const members = page.members as { name: string }[];
      expect(members.length).toBeLessThanOrEqual(3);
      names.push(...members.map(({ name }) => name));
      cursor = (page.response_metadata as { next_cursor: string }).next_cursor;
    } while (cursor !== '');
    expect(names).toEqual(expect.arrayContaining(['olga', 'sam', 'finn', 'vps', 'alertmanager']));
    expect(new Set(names).size).toBe(names.length);
  });
});

import { describe, expect, it } from 'vitest';
import { actions, button, modal, plain, section, startBoth } from './support/fake-app.ts';

const badSection = { type: 'section', text: { type: 'text', text: 'hi' } };

describe('blocks.validate', () => {
  it('accepts blocks, a message and a view, and shows none of them', async () => {
    const { slack, app } = await startBoth({ app: { scopes: [] } });
    const blocks = [section('hi'), actions(button('Go'))];
    for (const args of [{ blocks }, { message: { blocks } }, { view: modal(blocks) }])
      expect(await app.call('blocks.validate', args)).toEqual({ ok: true, http_status: 200 });
    expect(slack.messages()).toEqual([]);
    expect(slack.brokenRules()).toEqual([]);
  });

  it('reads each as JSON within a form', async () => {
    const { slack } = await startBoth();
    for (const [kind, value] of Object.entries({
      blocks: [badSection],
      message: { blocks: [badSection] },
      view: modal([badSection]),
    })) {
      const answer = await fetch(`${slack.apiUrl}blocks.validate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${slack.app.botToken}` },
        body: new URLSearchParams({ [kind]: JSON.stringify(value) }),
      });
      expect(await answer.json()).toMatchObject({ ok: false, error: `invalid_${kind}` });
    }
  });

  it('points at what it refuses, from the root of what was given', async () => {
    const { slack, app } = await startBoth();
    const pointersOf = async (args: Record<string, unknown>) => {
      const { error, errors } = await app.call('blocks.validate', args);
      const found = errors as { pointer: string; code: string; message: string }[];
      return { error, pointers: found.map(({ pointer }) => pointer) };
    };
    expect(await pointersOf({ blocks: [section('hi'), badSection] })).toEqual({
      error: 'invalid_blocks',
      pointers: ['/1/text'],
    });
    expect(await pointersOf({ message: { blocks: [badSection] } })).toEqual({
      error: 'invalid_message',
      pointers: ['/blocks/0/text'],
    });
    expect(await pointersOf({ view: modal([], { title: plain('x'.repeat(25)) }) })).toEqual({
      error: 'invalid_view',
      pointers: ['/title/text'],
    });
    expect(await pointersOf({ message: { text: 'hi', blocks: [] } })).toEqual({
      error: 'invalid_message',
      pointers: ['/text'],
    });
    slack.faults.refuseBlock('section');
    expect(await pointersOf({ view: modal([section('hi')]) })).toEqual({
      error: 'invalid_view',
      pointers: ['/blocks/0/type'],
    });
  });

  it('takes exactly one of the three, and each in its shape', async () => {
    const { app } = await startBoth();
    const refused = { ok: false, error: 'invalid_arguments' };
    expect(await app.call('blocks.validate', {})).toMatchObject(refused);
    expect(await app.call('blocks.validate', { blocks: [], view: modal([]) })).toMatchObject(refused);
    for (const [kind, value] of [
      ['blocks', {}],
      ['message', []],
      ['view', 'modal'],
    ] as const)
      expect(await app.call('blocks.validate', { [kind]: value })).toMatchObject({
        error: `invalid_${kind}`,
        errors: [{ pointer: '', code: 'wrong_type' }],
      });
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

  it('refuses a cursor and a limit that Slack never gave', async () => {
    const { app } = await startBoth({ app: { scopes } });
    expect(await app.call('users.list', { cursor: 'x' })).toMatchObject({ error: 'invalid_cursor' });
    expect(await app.call('users.list', { limit: 1001 })).toMatchObject({ error: 'invalid_limit' });
  });
});

import { describe, expect, it } from 'vitest';
import { nextOrder, sortRows } from '../../../src/sandbox/page/client/blocks/sort-rows.ts';
import { enteredOf } from '../../../src/sandbox/page/client/elements/spot.ts';
import { describeBody } from '../../../src/sandbox/page/client/panel/rows.ts';
import { applyEvent } from '../../../src/sandbox/page/client/state.ts';
import type { PageEvent, PageMessage, PageState } from '../../../src/sandbox/slack/page-api.ts';

const message = (ts: string, text: string): PageMessage => ({
  channel: 'C1',
  ts,
  user: 'U1',
  text,
  blocks: [],
  attachments: [],
  ephemeral: false,
  edited: false,
  reactions: [],
  values: {},
  pings: [],
});

const user = {
  id: 'U1',
  name: 'olga',
  realName: 'Olga',
  teamId: 'T1',
  isAdmin: true,
  isRestricted: false,
  isExternal: false,
  isBot: false,
  isDeactivated: false,
  title: '',
};

const empty: PageState = {
  team: { id: 'T1', name: 'Sandbox', domain: 'sandbox' },
  app: { id: 'A1', name: 'vps', botUserId: 'U2' },
  as: user,
  people: [user],
  groups: [],
  commands: [],
  shortcuts: [],
  channels: [
    { id: 'C1', name: 'ops', kind: 'public', hasApp: true, members: ['U1'], readUpTo: '', messages: [] },
  ],
  views: [],
  home: null,
  traffic: [],
  brokenRules: [],
};

const textsAfter = (...events: readonly PageEvent[]) =>
  events.reduce(applyEvent, empty).channels[0]?.messages.map(({ text }) => text);

describe('the state after events', () => {
  it('is the same when events arrive twice, as they do after a reconnect', () => {
    const first: PageEvent = { type: 'message', message: message('1.1', 'one') };
    const change: PageEvent = { type: 'message_changed', message: message('1.1', 'changed') };
    const rule: PageEvent = { type: 'broken_rule', rule: { at: 1, rule: 'late_ack', words: 'too late' } };
    expect(textsAfter(first, change, first, change)).toEqual(['changed']);
    expect([rule, rule].reduce(applyEvent, empty).brokenRules).toHaveLength(1);
  });

  it('keeps messages in the order of their time, and drops deleted ones', () => {
    const events = ['3.0', '1.0', '2.0'].map(
      (ts): PageEvent => ({ type: 'message', message: message(ts, ts) }),
    );
    expect(textsAfter(...events)).toEqual(['1.0', '2.0', '3.0']);
    expect(textsAfter(...events, { type: 'message_deleted', channel: 'C1', ts: '2.0' })).toEqual([
      '1.0',
      '3.0',
    ]);
  });
});

describe('a table', () => {
  it('sorts numbers in names as numbers: up, down, and back as it came', () => {
    const rows = ['web-10', 'web-2', 'db-1'].map((text) => [{ type: 'raw_text', text }]);
    const texts = (order: ReturnType<typeof nextOrder>) => sortRows(rows, order).map(([cell]) => cell?.text);
    const up = nextOrder(undefined, 0);
    const down = nextOrder(up, 0);
    expect(texts(up)).toEqual(['db-1', 'web-2', 'web-10']);
    expect(texts(down)).toEqual(['web-10', 'web-2', 'db-1']);
    expect(nextOrder(down, 0)).toBeUndefined();
  });
});

describe('what was entered', () => {
  it.each([
    [{ type: 'static_select', selected_option: { value: 'a' } }, 'a'],
    [{ type: 'checkboxes', selected_options: [{ value: 'a' }, { value: 'b' }] }, ['a', 'b']],
    [{ type: 'multi_users_select', selected_users: ['U1'] }, ['U1']],
    [{ type: 'datetimepicker', selected_date_time: 7 }, '7'],
    [{ type: 'plain_text_input', value: null }, null],
  ])('is read back from %o', (state, expected) => {
    expect(enteredOf(state)).toEqual(expected);
  });
});

describe('a request in the traffic', () => {
  it('shows forms line by line, and the JSON inside them indented', () => {
    const body = `text=list+all&payload=${encodeURIComponent('{"a":1}')}`;
    expect(describeBody(body)).toBe('text: list all\npayload:\n{\n  "a": 1\n}');
    expect(describeBody('not json')).toBe('not json');
  });
});

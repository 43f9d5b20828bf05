import { describe, expect, it } from 'vitest';
import { describeBody, mergeTraffic } from '../../../src/sandbox/page/client/panel/rows.ts';
import { applyPanelEvent } from '../../../src/sandbox/page/client/state.ts';
import type { PanelEvent, PanelRequest, PanelState } from '../../../src/sandbox/panel/panel-api.ts';
import type { TrafficEntry } from '../../../src/sandbox/slack/page-api.ts';

const PASSWORD = 'Xq7-secret-"&\\`';
const KEY = 'hk_abcDEF-123456789_xyz';

const blocks = [
  {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: PASSWORD }] }],
  },
];
const nothingCleared = { slack: 0, hosting: 0 };

function makeRequest(more: Partial<PanelRequest>): PanelRequest {
  return {
    id: 1,
    at: 1000,
    method: 'POST',
    path: '/servers',
    operation: 'create',
    server: null,
    ending: 'answered',
    status: 200,
    code: null,
    fault: null,
    didWork: true,
    tookMs: 3,
    ...more,
  };
}

function makeEntry(more: Partial<TrafficEntry>): TrafficEntry {
  return {
    id: 1,
    at: 1000,
    tookMs: 5,
    from: 'slack',
    what: 'command /vps list',
    request: '',
    status: 200,
    response: '',
    ...more,
  };
}

describe('what the traffic shows of a body', () => {
  it.each([
    ['JSON', JSON.stringify({ text: 'created', blocks })],
    ['blocks as a text inside JSON', JSON.stringify({ blocks: JSON.stringify(blocks) })],
    ['a form', `channel=C1&blocks=${encodeURIComponent(JSON.stringify(blocks))}`],
    ['a payload in a form', `payload=${encodeURIComponent(JSON.stringify({ message: { blocks } }))}`],
    ['JSON that was cut off', JSON.stringify({ blocks }).slice(0, -3)],
    ['a form that was cut off', `blocks=${encodeURIComponent(JSON.stringify(blocks).slice(0, -2))}`],
  ])('is never a root password: %s', (_, body) => {
    const shown = describeBody(body);
    expect(shown).toContain('[masked]');
    expect(shown).not.toContain('secret');
  });

  it('is no API key, and no link that takes one', () => {
    const link = `http://127.0.0.1:4001/connect/${'t'.repeat(43)}`;
    expect(describeBody(JSON.stringify({ url: link, value: KEY }))).not.toMatch(/ttt|abcDEF/);
    expect(describeBody(`text=connect+${KEY}`)).toBe('text: connect [masked]');
    const [row] = mergeTraffic(
      [makeEntry({ what: `command /vps connect ${KEY}` })],
      [],
      'all',
      nothingCleared,
    );
    expect(row?.what).toBe('command /vps connect [masked]');
  });

  it('is everything else as it was sent', () => {
    const body = { ok: true, list: [1, null, 'a "b"'], deep: { type: 'section', text: '[x](y)' } };
    expect(JSON.parse(describeBody(JSON.stringify(body)))).toEqual(body);
  });
});

describe('the list of requests', () => {
  const entries = [
    makeEntry({ id: 1, at: 10 }),
    makeEntry({ id: 2, at: 30, from: 'app', what: 'chat.postMessage' }),
  ];
  const requests = [makeRequest({ id: 1, at: 20 }), makeRequest({ id: 2, at: 40 })];
  const keys = (...args: Parameters<typeof mergeTraffic>) => mergeTraffic(...args).map(({ key }) => key);

  it('has both kinds in the order of time, or one of them', () => {
    expect(keys(entries, requests, 'all', nothingCleared)).toEqual([
      'slack 1',
      'hosting 1',
      'slack 2',
      'hosting 2',
    ]);
    expect(keys(entries, requests, 'hosting', nothingCleared)).toEqual(['hosting 1', 'hosting 2']);
    expect(keys(entries, requests, 'slack', nothingCleared)).toEqual(['slack 1', 'slack 2']);
  });

  it('hides cleared requests, and shows all again after a restart of the sandbox', () => {
    expect(keys(entries, requests, 'all', { slack: 1, hosting: 2 })).toEqual(['slack 2']);
    expect(keys(entries, requests, 'all', { slack: 900, hosting: 2 })).toEqual(['slack 1', 'slack 2']);
  });

  it('marks what went wrong and why', () => {
    const lost = makeRequest({ id: 3, ending: 'cut', status: null, fault: 'lost_after' });
    const refused = makeRequest({ id: 4, status: 409, code: 'wrong_state' });
    const denied = makeEntry({ from: 'app', response: '{"ok":false,"error":"missing_scope"}' });
    const rows = mergeTraffic([denied], [lost, refused, makeRequest({ id: 5 })], 'all', nothingCleared);
    expect(rows.map(({ isBad, ending, code, fault }) => [isBad, ending, code, fault])).toEqual([
      [true, '200', 'missing_scope', ''],
      [true, 'cut off', '', 'lost_after'],
      [true, '409', 'wrong_state', ''],
      [false, '200', '', ''],
    ]);
  });
});

describe('the state of the panel after events', () => {
  const empty: PanelState = {
    account: {
      name: 'Sandbox Ltd',
      balance: '100.00',
      isOpen: true,
      keys: [],
      connection: 'none',
      faults: [],
      prices: [],
      movedMs: 0,
    },
    servers: [],
    money: [],
    requests: [],
    tour: [],
    presets: [],
  };
  const server = (id: number, state: string) => ({
    id,
    label: `web-${id}`,
    state,
    ipv4: '198.18.0.1',
    paidUntil: 0,
  });

  it('is the same when events arrive twice, as they do after a reconnect', () => {
    const events: readonly PanelEvent[] = [
      { type: 'request', request: makeRequest({ ending: 'pending', status: null }) },
      { type: 'request', request: makeRequest({}) },
      {
        type: 'money',
        entry: { id: 1, at: 0, kind: 'charge', amount: '5.90', what: 'create web-1 (small)' },
      },
      { type: 'servers', changed: [server(2, 'creating'), server(1, 'running')], gone: [] },
      { type: 'servers', changed: [server(2, 'running')], gone: [1] },
    ];
    const once = events.reduce(applyPanelEvent, empty);
    expect([...events, ...events].reduce(applyPanelEvent, empty)).toEqual(once);
    expect(once.requests.map(({ ending }) => ending)).toEqual(['answered']);
    expect(once.money).toHaveLength(1);
    expect(once.servers).toEqual([server(2, 'running')]);
  });
});

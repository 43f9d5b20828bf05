import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filterServers, isFullName, matchServer, searchServers } from '../../src/core/find-server.ts';
import {
  colorOf,
  compareServers,
  isTargetState,
  powerActionsIn,
  type Server,
} from '../../src/core/server.ts';
import { findMentionedServers } from '../../src/servers/mentioned.ts';
import { anyText } from '../support/any-text.ts';
import { startCpuTimer } from '../support/clocks.ts';

it('servers are sorted by label, with numbers by value, then by ID', () => {
  const labels = ['web-10', 'Web-2', 'db', 'web-1', 'db'];
  const sorted = labels.map((label, id) => ({ id, label, state: '' })).sort(compareServers);
  expect(sorted.map(({ id, label }) => `${label} ${id}`)).toEqual([
    'db 2',
    'db 4',
    'web-1 3',
    'Web-2 1',
    'web-10 0',
  ]);
});

it.each([
  ['running', 'green', ['stop', 'reboot']],
  ['creating', 'yellow', []],
  ['deleted', 'gray', []],
  ['stopped', 'gray', ['start', 'stop', 'reboot']],
  ['suspended', 'red', ['start', 'stop', 'reboot']],
  ['', 'gray', ['start', 'stop', 'reboot']],
  ['a state of its own', 'gray', ['start', 'stop', 'reboot']],
])('a server in state %j is %s, and all power actions are offered unless the state is documented', (state, color, actions) => {
  expect(colorOf({ state })).toBe(color);
  expect(powerActionsIn({ state })).toEqual(actions);
});

it.each([
  ['reboot', 'running', true],
  ['reboot', 'rebooting', false],
  ['start', 'creating', false],
  ['stop', 'Stopped', true],
  ['stop', 'off', true],
] as const)('%s has reached its target state when the server is %s: %s', (action, state, isThere) => {
  expect(isTargetState(action, { state })).toBe(isThere);
});

const servers: readonly Server[] = [
  { id: 10, label: 'web-10', state: 'running' },
  { id: 2, label: 'WEB-2', state: 'stopped', ipv4: '203.0.113.7' },
  { id: 3, label: 'db', state: 'running' },
  { id: 4, label: 'secret', state: 'running' },
];
const search = (filter: string) =>
  searchServers(filter, servers, ({ label }) => label !== 'secret').map(({ label }) => label);

describe('a menu that searches', () => {
  it.each([
    ['', ['db', 'WEB-2', 'web-10']],
    ['0.113', ['WEB-2']],
    ['STOPPED', ['WEB-2']],
    ['10', ['web-10']],
    ['web–1', ['web-10']],
  ])('finds for %j %j, sorted by label', (filter, labels) => {
    expect(search(filter)).toEqual(labels);
  });

  it.each([
    ['wbe-10', ['web-10']],
    ['zzzzzz', []],
  ])('offers for the misspelled %j the nearest labels %j', (filter, labels) => {
    expect(search(filter)).toEqual(labels);
  });

  it('never offers a server that the user may not see, however near its label is', () => {
    expect(search('secret')).toEqual([]);
    expect(search('secert')).toEqual([]);
  });
});

const server = (id: number, label: string, more: Partial<Server> = {}): Server => ({
  id,
  label,
  state: 'running',
  ...more,
});

const fleet = [
  server(1, 'web-1', { ipv4: '203.0.113.7' }),
  server(2, 'web-10'),
  server(3, 'WEB-2'),
  server(4, 'db'),
  server(5, 'db-replica'),
  server(6, '4'),
  server(7, 'queue'),
  server(8, 'queue'),
];

function found(typed: string, among = fleet): readonly number[] | string {
  const match = matchServer(typed, among);
  if (match.kind === 'found') return [match.server.id];
  if (match.kind === 'ambiguous') return match.servers.map(({ id }) => id);
  return match.nearest[0]?.label ?? 'unknown';
}

describe('a typed name', () => {
  it.each([
    ['web-1', [1], 'an exact label, though another one begins with it'],
    ['db', [4], 'an exact label before a prefix'],
    ['DB-R', [5], 'a unique prefix in any case'],
    ['7', [7], 'an id'],
    ['203.0.113.7', [1], 'an IPv4 address'],
  ])('%j means %j: %s', (typed, ids) => {
    expect(found(typed)).toEqual(ids);
  });

  it.each([
    ['4', [6, 4], 'one server’s label and another one’s id'],
    ['queue', [7, 8], 'two servers of the same label'],
    ['web', [1, 3, 2], 'a prefix of several'],
  ])('%j acts on no server when it matches several: %s', (typed, ids) => {
    expect(found(typed)).toEqual(expect.arrayContaining(ids));
    expect(matchServer(typed, fleet).kind).toBe('ambiguous');
    expect(found(typed)).toHaveLength(ids.length);
  });

  it.each([
    ['wbe-1', 'web-1'],
    ['qeue', 'queue'],
    ['zzzzzz', 'unknown'],
  ])('%j matches no server and suggests %s', (typed, nearest) => {
    expect(found(typed)).toBe(nearest);
  });

  it.each(['', '   ', '\t\n'])('%j matches nothing, not even a server with an empty label', (typed) => {
    expect(found(typed, [server(1, ''), server(2, ' ')])).toBe('unknown');
  });

  it.each([
    ['web–1', [1], 'a dash of a phone'],
    ['`db`', [4], 'code'],
    ['7,', [7], 'an ID with a comma'],
  ])('%j means %j: %s', (typed, ids) => {
    expect(found(typed)).toEqual(ids);
    const server = fleet.find(({ id }) => id === ids[0]);
    expect(server && isFullName(typed, server)).toBe(true);
  });

  it('prefers a label that is written exactly as typed', () => {
    const both = [server(1, 'web-1'), server(2, 'web–1'), server(3, 'web-1.')];
    expect(found('web–1', both)).toEqual([2]);
    expect(found('web-1.', both)).toEqual([3]);
    expect(found('WEB–1', both)).toEqual([2]);
    expect(found('`web-1`', both)).toEqual([1, 2]);
  });

  it('acts on no server if two readings match different servers', () => {
    const two = [server(1, 'web-1'), server(2, 'web-1.example.com')];
    expect(found('web-1.', two)).toEqual([1, 2]);
    expect(found('`1`', [server(1, 'a'), server(2, '1 ')])).toEqual([2, 1]);
  });

  it('with one quotation mark is part of a quoted name, never an ID', () => {
    expect(matchServer('1`', [server(1, 'web 1')]).kind).toBe('unknown');
    expect(matchServer('"1', [server(1, 'web 1')]).kind).toBe('unknown');
  });

  it('that is only the beginning of a label still is with a phone’s punctuation', () => {
    expect(found('queue–', [server(7, 'queue-7')])).toEqual([7]);
    expect(isFullName('queue–', server(7, 'queue-7'))).toBe(false);
    expect(isFullName('web–1', server(2, 'web-10'))).toBe(false);
  });

  it('that is equally near to several labels suggests all of them', () => {
    const match = matchServer('web-3', [server(1, 'web-1'), server(2, 'web-2'), server(3, 'db')]);
    expect(match).toMatchObject({ kind: 'unknown', nearest: [{ id: 1 }, { id: 2 }] });
  });

  it('doesn’t match the beginning of an ID or an address', () => {
    expect(found('203.0.113', [server(42, 'a', { ipv4: '203.0.113.7' })])).toBe('unknown');
    expect(found('4', [server(42, 'a')])).not.toEqual([42]);
  });

  it('finds every server by its id, or offers it', () => {
    const labels = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('web-1', '1', '2', '3'));
    fc.assert(
      fc.property(fc.array(labels, { minLength: 1, maxLength: 6 }), (names) => {
        const all = names.map((label, index) => server(index + 1, label));
        for (const { id } of all) expect(found(String(id), all)).toContain(id);
      }),
    );
  });

  it('never throws and never finds a server that doesn’t exist', () => {
    fc.assert(
      fc.property(anyText(), (typed) => {
        const match = matchServer(typed, fleet);
        if (match.kind === 'found') expect(fleet).toContain(match.server);
        if (match.kind === 'ambiguous') expect(match.servers.length).toBeGreaterThan(1);
      }),
    );
  });
});

it.each([
  ['', [6, 4, 5, 7, 8, 1, 3, 2]],
  ['WEB', [1, 3, 2]],
  ['0.113', [1]],
  ['8', [8]],
])('a filter %j keeps %j, sorted by label with numbers by value', (filter, ids) => {
  expect(filterServers(filter, fleet).map(({ id }) => id)).toEqual(ids);
});
const WEB_1 = server(41, 'web-1', { ipv4: '10.0.0.5' });
const WEB_10 = server(42, 'web-10', { ipv4: '10.0.0.50' });
const DB = server(43, 'db.example.com', { ipv4: '10.0.0.7' });
const SPACED = server(44, 'Web 1');
const ALL = [WEB_1, WEB_10, DB, SPACED];

const find = (texts: readonly (string | { readonly url: string })[], servers: readonly Server[] = ALL) =>
  findMentionedServers(
    texts.map((part) =>
      typeof part === 'string' ? { text: part, isUrl: false } : { text: part.url, isUrl: true },
    ),
    servers,
  );
const labelsIn = (...texts: Parameters<typeof find>[0]) => find(texts).map(({ server }) => server.label);

describe('the servers that a message mentions', () => {
  it.each([
    ['web-1 is down', ['web-1']],
    ['Triggered on host:web-1', ['web-1']],
    ['instance = web-1:9100', ['web-1']],
    ['*web-1*, `web-10`.', ['web-1', 'web-10']],
    ['root@web-1:~#', ['web-1']],
    ['web-1.example.com is down', ['web-1']],
    ['db is down', ['db.example.com']],
    ['10.0.0.5:9100 is down', ['web-1']],
    ['web 1 is down', ['Web 1']],
  ])('are found in %j: %j', (text, labels) => {
    expect(labelsIn(text)).toEqual(labels);
  });

  it.each([
    'my-web-1 is down',
    'web_1',
    '110.0.0.5',
    '10.0.0.5.7',
    'web',
  ])('are not guessed from %j', (text) => {
    expect(labelsIn(text)).toEqual([]);
  });

  it.each([
    'ID: 42',
    '*ID*\n42',
    'server_id=42',
    'Server #42',
    'disk full\nID 42',
  ])('are found by an ID that is labeled as an ID: %j', (text) => {
    expect(find([text]).map(({ server, by }) => [server.label, by])).toEqual([['web-10', 'id']]);
  });

  it.each([
    '42% full',
    'ID 42%',
    'ID 42.5',
    'alert ID: 42',
    'rule_id=42',
    '#42',
    'valid: 42',
  ])('are not found by a number that isn’t labeled as an ID: %j', (text) => {
    expect(labelsIn(text)).toEqual([]);
  });

  it('are not found by a label of one number or letter, unless a field names it', () => {
    const servers = [server(1, '42'), server(2, 'a')];
    expect(find(['a disk is 42% full, 42 times'], servers)).toEqual([]);
    expect(find(['host: 42, label a'], servers).map(({ server }) => server.label)).toEqual(['42', 'a']);
  });

  it('are found by the value of a field, not by its name', () => {
    const servers = [server(1, 'host'), server(2, 'instance'), server(3, 'web-1')];
    expect(find(['host:web-1 instance=web-1'], servers).map(({ server }) => server.label)).toEqual(['web-1']);
  });

  it('are listed by label, address, ID and short name in this order, with those from links last', () => {
    const text = 'db went away, ID 42, 10.0.0.5, Web 1';
    expect(find([{ url: 'https://gone.example.com/db.example.com' }, text]).map(({ by }) => by)).toEqual([
      'label',
      'ipv4',
      'id',
      'short_name',
    ]);
    const [first, second] = find([{ url: 'http://web-1:9093' }, 'db.example.com is down']);
    expect(first).toMatchObject({ server: DB, isOnlyInUrl: false });
    expect(second).toMatchObject({ server: WEB_1, by: 'label', isOnlyInUrl: true });
  });

  it('are the one with the longest label that fits', () => {
    const servers = [server(1, 'web'), server(2, 'web 1'), server(3, 'prod/web')];
    expect(find(['web 1 and prod/web'], servers).map(({ server }) => server.label)).toEqual([
      'web 1',
      'prod/web',
    ]);
  });

  it('are not those that were deleted', () => {
    expect(find(['web-1'], [{ ...WEB_1, state: 'deleted' }])).toEqual([]);
  });
});

describe('the text that is read of a message', () => {
  // One character that stands for eighteen.
  const LIGATURE = '\ufdfa';

  it.each([
    [500, ['web-1']],
    [5000, []],
  ])('is limited by the letters that it expands to: %i ligatures before a label leave %j', (count, labels) => {
    expect(labelsIn(`${LIGATURE.repeat(count)} web-1`)).toEqual(labels);
  });
});

it('a message and an account of any size are read within a quarter of a second', () => {
  const servers = Array.from({ length: 5000 }, (_, at) => server(at, `${'web '.repeat(9)}${at}`));
  const readAll = () => {
    const readMs = startCpuTimer();
    const text = 'web '.repeat(20_000);
    find([text, { url: text }], servers);
    return readMs();
  };
  // The first ones are read by code that is not compiled yet.
  expect(Math.min(readAll(), readAll(), readAll())).toBeLessThan(250);
});

import { describe, expect, it } from 'vitest';
import type { Server } from '../../src/core/server.ts';
import { findMentionedServers } from '../../src/servers/mentioned.ts';
import { startCpuTimer } from '../support/cpu-time.ts';

const server = (id: number, label: string, more: Partial<Server> = {}): Server => ({
  id,
  label,
  state: 'running',
  ...more,
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
    ['WEB-1 is down', ['web-1']],
    ['Triggered on host:web-1', ['web-1']],
    ['instance = web-1:9100', ['web-1']],
    ['*web-1*, `web-10`.', ['web-1', 'web-10']],
    ['_web-1_', ['web-1']],
    ['(web-1)', ['web-1']],
    ['root@web-1:~#', ['web-1']],
    ['web-1.example.com is down', ['web-1']],
    ['db is down', ['db.example.com']],
    ['db.example.com is down', ['db.example.com']],
    ['10.0.0.5:9100 is down', ['web-1']],
    ['DiskFull (10.0.0.50)', ['web-10']],
    ['web 1 is down', ['Web 1']],
    ['web\t1', ['Web 1']],
  ])('are found in %j: %j', (text, labels) => {
    expect(labelsIn(text)).toEqual(labels);
  });

  it.each([
    'web-100 is down',
    'my-web-1 is down',
    'web-1-old',
    'web_1',
    '110.0.0.5',
    '10.0.0.5.7',
    'web',
    'http web/1',
    '',
  ])('are not guessed from %j', (text) => {
    expect(labelsIn(text)).toEqual([]);
  });

  it.each([
    'ID 42',
    'ID: 42',
    '*ID*\n42',
    'server id 42',
    'server_id=42',
    'Server #42',
    'web · ID 42',
    'disk full\nID 42',
  ])('are found by an ID that is labeled as an ID: %j', (text) => {
    expect(find([text]).map(({ server, by }) => [server.label, by])).toEqual([['web-10', 'id']]);
  });

  it.each([
    '42% full',
    'ID 42%',
    'ID 42.5',
    'alert ID: 42',
    'incident id 42',
    'pid 42',
    'rule_id=42',
    '#42',
    '42 servers',
    'port 42',
    'took 42 ms',
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

  it('are each found once, by their clearest mention', () => {
    expect(find([{ url: 'http://web-1' }, '10.0.0.5', 'web-1'])).toEqual([
      { server: WEB_1, by: 'label', isOnlyInUrl: false },
    ]);
  });

  it('are the one with the longest label that fits', () => {
    const servers = [server(1, 'web'), server(2, 'web 1'), server(3, 'prod/web')];
    expect(find(['web 1 and prod/web'], servers).map(({ server }) => server.label)).toEqual([
      'web 1',
      'prod/web',
    ]);
  });

  it('are all servers with the same label', () => {
    const twins = [server(1, 'web'), server(2, 'web')];
    expect(find(['web is down'], twins).map(({ server }) => server.id)).toEqual([1, 2]);
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

  it('is limited for all of its parts together', () => {
    const parts = Array.from({ length: 5 }, () => LIGATURE.repeat(200));
    expect(labelsIn(...parts.slice(0, 1), 'web-1')).toEqual(['web-1']);
    expect(labelsIn(...parts, 'web-1')).toEqual([]);
  });
});

it('a message and an account of any size are read within 100 ms', () => {
  const servers = Array.from({ length: 5000 }, (_, at) => server(at, `${'web '.repeat(9)}${at}`));
  const readAll = () => {
    const readMs = startCpuTimer();
    const text = `${'web '.repeat(20_000)}`;
    findMentionedServers(
      [
        { text, isUrl: false },
        { text, isUrl: true },
      ],
      servers,
    );
    return readMs();
  };
  // The first ones are read by code that is not compiled yet.
  expect(Math.min(readAll(), readAll(), readAll())).toBeLessThan(100);
});

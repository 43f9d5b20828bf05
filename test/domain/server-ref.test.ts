import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filterServers, isFullName, matchServer } from '../../src/core/find-server.ts';
import type { Server } from '../../src/core/server.ts';
import { anyText } from '../support/any-text.ts';

const server = (id: number, label: string, more: Partial<Server> = {}): Server => ({
  id,
  label,
  state: 'running',
  ...more,
});

const servers = [
  server(1, 'web-1', { ipv4: '203.0.113.7' }),
  server(2, 'web-10'),
  server(3, 'WEB-2'),
  server(4, 'db'),
  server(5, 'db-replica'),
  server(6, '4'),
  server(7, 'queue'),
  server(8, 'queue'),
];

function found(typed: string, among = servers): readonly number[] | string {
  const match = matchServer(typed, among);
  if (match.kind === 'found') return [match.server.id];
  if (match.kind === 'ambiguous') return match.servers.map(({ id }) => id);
  return match.nearest[0]?.label ?? 'unknown';
}

describe('a typed name', () => {
  it.each([
    ['web-1', [1], 'an exact label, though another one begins with it'],
    ['db', [4], 'an exact label before a prefix'],
    ['web-2', [3], 'a label in any case'],
    ['DB', [4], 'a whole label in any case before a prefix'],
    ['DB-R', [5], 'a unique prefix in any case'],
    ['  db  ', [4], 'a label with spaces around it'],
    ['ｄｂ', [4], 'a label typed in full-width letters'],
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
    expect(matchServer(typed, servers).kind).toBe('ambiguous');
    expect(found(typed)).toHaveLength(ids.length);
  });

  it.each([
    ['wbe-1', 'web-1'],
    ['web-01', 'web-1'],
    ['qeue', 'queue'],
    ['Queues', 'queue'],
    ['zzzzzz', 'unknown'],
  ])('%j matches no server and suggests %s', (typed, nearest) => {
    expect(found(typed)).toBe(nearest);
  });

  it.each(['', '   ', '\t\n'])('%j matches nothing, not even a server with an empty label', (typed) => {
    expect(found(typed, [server(1, ''), server(2, ' ')])).toBe('unknown');
  });

  it.each([
    ['web–1', [1], 'a dash of a phone'],
    ['web-1.', [1], 'a full stop after it'],
    ['`db`', [4], 'code'],
    ['7,', [7], 'an ID with a comma'],
    ['２０３.０.１１３.７', [1], 'an address in full-width digits'],
  ])('%j means %j: %s', (typed, ids) => {
    expect(found(typed)).toEqual(ids);
    const server = servers.find(({ id }) => id === ids[0]);
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

  it('finds a label with invisible spaces around it', () => {
    expect(found('db', [server(1, ' db '), server(2, 'db-replica')])).toEqual([1]);
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
        const match = matchServer(typed, servers);
        if (match.kind === 'found') expect(servers).toContain(match.server);
        if (match.kind === 'ambiguous') expect(match.servers.length).toBeGreaterThan(1);
      }),
    );
  });
});

describe('a filter', () => {
  it.each([
    ['', [6, 4, 5, 7, 8, 1, 3, 2]],
    ['WEB', [1, 3, 2]],
    ['0.113', [1]],
    ['replica', [5]],
    ['8', [8]],
    ['nothing', []],
  ])('%j keeps %j, sorted by label with numbers by value', (filter, ids) => {
    expect(filterServers(filter, servers).map(({ id }) => id)).toEqual(ids);
  });

  it('keeps servers whose state matches, too', () => {
    expect(filterServers('creat', [server(1, 'a', { state: 'creating' }), server(2, 'b')])).toHaveLength(1);
  });

  it('does not change the list that it is given', () => {
    const before = [...servers];
    filterServers('', servers);
    matchServer('web', servers);
    expect(servers).toEqual(before);
  });
});

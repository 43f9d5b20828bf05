import { describe, expect, it } from 'vitest';
import { indexServers, searchServers } from '../../src/core/find-server.ts';
import type { Server } from '../../src/core/server.ts';

const servers: readonly Server[] = [
  { id: 10, label: 'web-10', state: 'running' },
  { id: 2, label: 'WEB-2', state: 'stopped', ipv4: '203.0.113.7' },
  { id: 3, label: 'db', state: 'running' },
  { id: 4, label: 'secret', state: 'running' },
];
const index = indexServers(servers);
const search = (filter: string) =>
  searchServers(filter, index, ({ label }) => label !== 'secret').map(({ label }) => label);

describe('a menu that searches', () => {
  it.each([
    ['', ['db', 'WEB-2', 'web-10']],
    [' web', ['WEB-2', 'web-10']],
    ['0.113', ['WEB-2']],
    ['STOPPED', ['WEB-2']],
    ['10', ['web-10']],
    ['web–1', ['web-10']],
    ['`db`.', ['db']],
  ])('finds for %j %j, sorted by label', (filter, labels) => {
    expect(search(filter)).toEqual(labels);
  });

  it.each([
    ['wbe-10', ['web-10']],
    ['dv', ['db']],
    ['zzzzzz', []],
  ])('offers for the misspelled %j the nearest labels %j', (filter, labels) => {
    expect(search(filter)).toEqual(labels);
  });

  it('never offers a server that the user may not see, however near its label is', () => {
    expect(search('secret')).toEqual([]);
    expect(search('secert')).toEqual([]);
  });
});

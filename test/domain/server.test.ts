import { expect, it } from 'vitest';
import { compareServers } from '../../src/core/server.ts';

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

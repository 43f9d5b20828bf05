import { expect, it } from 'vitest';
import { makeServer, NOW } from '../../../src/sandbox/gallery/fixtures/samples.ts';
import { findMessageFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import { serverList } from '../../../src/servers/list.ts';

const many = (count: number, label: string) =>
  Array.from({ length: count }, (_, id) => ({
    ...makeServer(),
    id: 900_000_000_000 + id,
    label: `${label}${id}`,
    state: 'in some strange state',
    ipv4: '2001:0db8:85a3:0000:0000:8a2e:0370:7334',
  }));

it('a long list with long cells shows every server exactly once, in tables that Slack accepts', () => {
  const servers = many(250, 'a-label-that-is-as-long-as-a-cell-can-show-');
  const pages = 4;
  expect(serverList({ servers, extent: 'whole' }, '', pages - 1, NOW).text).toMatch(/–250$/);
  const ids = Array.from({ length: pages }, (_, page) =>
    serverList({ servers, extent: 'whole' }, '', page, NOW),
  ).flatMap((message) => {
    expect(findMessageFaults({ text: message.text, blocks: message.blocks })).toEqual([]);
    return message.blocks.flatMap((block) =>
      block.type === 'data_table' ? block.rows.slice(1).map((row) => JSON.stringify(row.at(-1))) : [],
    );
  });
  expect(new Set(ids).size).toBe(250);
  expect(ids).toHaveLength(250);
});

it('a list of a hundred servers with usual labels fits into one table', () => {
  const servers = Array.from({ length: 100 }, (_, id) => ({ ...makeServer(), id, label: `web-${id}` }));
  expect(serverList({ servers, extent: 'whole' }, '', 0, NOW).text).toBe('100 servers');
});

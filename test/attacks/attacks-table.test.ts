import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const ATTACKS = 33;
const rows = [...readFileSync('docs/attacks.md', 'utf8').matchAll(/^\| (A\d+) \| (.+) \| (.+) \|$/gm)].map(
  ([, item = '', attack = '', by = '']) => ({ item, attack, by }),
);

test('docs/attacks.md lists every attack once, in order', () => {
  const items = Array.from({ length: ATTACKS }, (_, at) => `A${at + 1}`);
  expect(rows.map(({ item }) => item)).toEqual(items);
});

test.each(rows)('$item names a test that says which attack it tries, or why there is none yet', ({
  item,
  by,
}) => {
  const [file] = /^`(test\/.+\.test\.ts)`$/.exec(by)?.slice(1) ?? [];
  if (file === undefined) return expect(by).toMatch(/^Not yet: .+\.$/);
  expect(existsSync(file), file).toBe(true);
  expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`\\b${item}\\b`));
});

test('every program in test/attacks that is named after an attack is in the list', () => {
  const programs = readdirSync('test/attacks').filter((file) => /^a\d+-/.test(file));
  const listed = rows.map(({ by }) => by);
  expect(programs.filter((file) => !listed.includes(`\`test/attacks/${file}\``))).toEqual([]);
});

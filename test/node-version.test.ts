import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Package {
  readonly engines?: { readonly node?: string };
  readonly hasInstallScript?: boolean;
}

const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, Package>>;
};
const lowest = (engines?.node ?? '').split('||').map((range) => range.replace(/[^\d.]/g, ''));

/** Throws at a range of another form than those that packages use here, rather than passing it over. */
function accepts(range: string, version: string): boolean {
  return range.split('||').some((part) => {
    const [, sign, least = ''] = /^(\^|>=)? *(\d+(?:\.\d+)*)(?:\.x)?$/.exec(part.trim()) ?? [];
    if (least === '') throw new Error(`unknown range ${part}`);
    const [major = 0] = numbersOf(version);
    if (sign !== '>=' && major !== numbersOf(least)[0]) return false;
    return version.localeCompare(least, 'en', { numeric: true }) >= 0;
  });
}

const numbersOf = (version: string) => version.split('.').map(Number);

// npm leaves out an optional package that excludes the running version, such as the native part of a bundler, and goes on.
it.each(lowest)('every package that is installed runs on Node.js %s', (version) => {
  const unfit = Object.entries(lock.packages).filter(([, { engines: { node = '>=0' } = {} }]) => {
    return !accepts(node, version);
  });
  expect(unfit.map(([path, each]) => `${path} ${each.engines?.node}`)).toEqual([]);
});

it.each(['README.md', 'docs/deploy.md'])('%s names the lowest versions of Node.js', (path) => {
  const text = readFileSync(path, 'utf8');
  const named = /Node\.js ((?:\d[\d.]*\+(?:, | or )?)+)/.exec(text)?.[1]?.match(/\d[\d.]*\d/g);
  expect(named).toEqual(lowest.map((version) => version.replace(/(\.0)+$/, '')));
});

it.each([
  ['^20.19.0 || >=22.12.0', '20.18.1', false],
  ['^20.19.0 || >=22.12.0', '20.19.0', true],
  ['^20.19.0 || >=22.12.0', '21.0.0', false],
  ['^20.19.0 || >=22.12.0', '24.0.0', true],
  ['20 || >=22', '20.1.0', true],
  ['>= 10.x', '9.9.9', false],
])('the Node.js range %s accepts %s: %s', (range, version, isAccepted) => {
  expect(accepts(range, version)).toBe(isAccepted);
});

it('only the packages that SECURITY.md names run a script when they are installed', () => {
  const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  const named = readFileSync('SECURITY.md', 'utf8').match(/(?<=^- `)[^`]+(?=`)/gm) ?? [];
  expect(scripted.map(([path]) => path.replace(/^.*node_modules\//, ''))).toEqual(named);
});

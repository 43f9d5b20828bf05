import type { Kind, Row } from './row.ts';

const plan = (code: string, monthly: unknown = '4.99') => ({
  code,
  vcpu: 1,
  ram_mb: 1024,
  disk_gb: 20,
  monthly,
});
const SHOWN = {
  plans: [plan('s1'), plan('s2', '9.98')],
  locations: ['fra', 'ams'],
  images: ['debian-12', 'debian-13'],
};
const TRUTH = {
  of: 'catalog' as const,
  plans: { s1: 499, s2: 998 },
  locations: ['fra', 'ams'],
  images: ['debian-12', 'debian-13'],
};

type Change = Partial<Record<'plans' | 'locations' | 'images', unknown>>;

const vary = (change: Change, kind: Kind, truth: Row['truth'] = TRUTH): Row => ({
  title: `a catalog with ${JSON.stringify(change).slice(0, 90)}`,
  call: 'catalog',
  body: { ...SHOWN, ...change },
  truth,
  kind,
});

/** The second plan's real price doesn't matter where no reader could know it. */
const priced = (monthly: unknown, kind: Kind, hundredths = 998): Row =>
  vary({ plans: [plan('s1'), plan('s2', monthly)] }, kind, { ...TRUTH, plans: { s1: 499, s2: hundredths } });

const PRICES: Row[] = [
  priced('9.98', 'understood'),
  priced(' 9.98 ', 'understood'),
  priced('0.00', 'understood', 0),
  priced('0.05', 'understood', 5),
  priced('1234567.89', 'understood', 123_456_789),
  ...['1.500', '1.5', '5', '9,98', '1,234.50', '-9.98', '1e3', '9.98 EUR', '', '٩.٩٨'].map((monthly) =>
    priced(monthly, 'told', -1),
  ),
  ...[5, 9.9, 9.98, 998, -1, null, true, [], {}, { amount: '9.98' }, ['9.98']].map((monthly) =>
    priced(monthly, 'told', -1),
  ),
];

const PLANS: Row[] = [
  ...[null, 's2', [], {}, plan(' '), { ...plan('s2'), code: 2 }].map((odd) =>
    vary({ plans: [plan('s1'), odd] }, 'told'),
  ),
  ...['vcpu', 'ram_mb', 'disk_gb'].flatMap((name) =>
    [undefined, 1.5, -1, '1 GB', [], '1e3'].map((size) =>
      vary({ plans: [plan('s1'), { ...plan('s2'), [name]: size }] }, 'told'),
    ),
  ),
  vary({ plans: [plan('s1'), plan('s1'), plan('s2', '9.98')] }, 'told'),
  // Neither of the two can be ordered: which price counts isn't certain.
  ...['1.00', '1,00'].map((other) =>
    vary({ plans: [plan('s1'), plan('s2', '9.98'), plan('s2', other)] }, 'told', {
      ...TRUTH,
      plans: { s1: 499, s2: -1 },
    }),
  ),
  vary({ plans: [{}, null] }, 'told'),
];

const CHOICES: Row[] = (['locations', 'images'] as const).flatMap((name) => {
  const [one = '', other = ''] = SHOWN[name];
  return [
    vary({ [name]: [one, other, one] }, 'understood'),
    vary({ [name]: [{ code: one }, { code: other, name: 'The other one' }] }, 'told'),
    ...[null, 5, '', { name: 'Frankfurt' }, { code: other, id: 'loc_1' }, [other]].map((odd) =>
      vary({ [name]: [one, odd] }, 'told'),
    ),
    ...[null, undefined, 'fra', {}, { fra: 'Frankfurt' }, [null], [{}]].map((odd) =>
      vary({ [name]: odd }, 'told'),
    ),
  ];
});

const SHAPES: Row[] = [
  { body: SHOWN, kind: 'understood' as const },
  { body: { ...SHOWN, currency: 'EUR', updated_at: '2026-01-01' }, kind: 'understood' as const },
  ...['data', 'catalog', 'result'].map((name) => ({ body: { [name]: SHOWN }, kind: 'understood' as const })),
  { body: { ...SHOWN, data: { ...SHOWN, plans: [] } }, kind: 'told' as const },
  { body: { ...SHOWN, error: 'stale' }, kind: 'told' as const },
  { body: { ...SHOWN, ok: false }, kind: 'told' as const },
  ...['', 'null', '{}', '[]', '<html>', '{"plans":[]}'].map((body) => ({ body, kind: 'told' as const })),
].map(({ body, kind }) => ({
  title: `a catalog that is ${JSON.stringify(body).slice(0, 60)}`,
  call: 'catalog',
  body,
  truth: TRUTH,
  kind,
}));

/** Half of a catalog that continues elsewhere. */
const CUT: Row[] = [
  ...[{ next: '/v1/catalog?page=2' }, { has_more: true }, { page: 1, pages: 2 }].map((beside) => ({
    body: { ...SHOWN, images: ['debian-12'], ...beside },
  })),
  { body: { ...SHOWN, images: ['debian-12'] }, status: 206 },
  { body: { ...SHOWN, images: ['debian-12'] }, headers: { link: '</v1/catalog?page=2>; rel="next"' } },
].map((part) => ({
  title: `half of a catalog: ${JSON.stringify(part).slice(-60)}`,
  call: 'catalog',
  truth: TRUTH,
  kind: 'told',
  ...part,
}));

export const CATALOGS: readonly Row[] = [...CUT, ...PRICES, ...PLANS, ...CHOICES, ...SHAPES];

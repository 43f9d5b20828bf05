// `npm run fuzz -- --seed 7 --count 100000`: malformed inputs by every entrance. `--case 123` repeats one of them, `--only pages`
// uses one entrance.
import { parseArgs } from 'node:util';
import { describeFuzz, fuzz } from './fuzz.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    count: { type: 'string', default: '100000' },
    case: { type: 'string' },
    only: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const print = (words: string) => process.stdout.write(`${words}\n`);
const one = values.case === undefined ? {} : { first: Number(values.case), count: 1 };
const only = values.only === undefined ? {} : { only: values.only };
print(`fuzz: --seed ${seed}`);
const result = await fuzz({ seed, count: Number(values.count), ...one, ...only, say: print });
print(describeFuzz(result, seed));
process.exit(result.failures.length > 0 ? 1 : 0);

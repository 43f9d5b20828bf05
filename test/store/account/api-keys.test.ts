import { expect, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { engines, T0 } from '../support.ts';

test.each(engines)('an API key says who set it, also after it is replaced, on $name', async ({ make }) => {
  const { apiKeys } = await make();
  await apiKeys.put('T1', new Secret('first'), 'U1', T0);
  expect(await apiKeys.find('T1')).toMatchObject({ setBy: 'U1' });
  await apiKeys.put('T1', new Secret('second'), 'U2', T0 + 5);
  expect(await apiKeys.find('T1')).toMatchObject({ setBy: 'U2' });
});

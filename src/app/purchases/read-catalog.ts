import type { Catalog } from '../../domain/catalog.ts';
import { defineUseCase } from '../authorize/use-case.ts';
import type { OnWait } from '../hosting-api.ts';

/** Reads what can be ordered. */
export const readCatalog = defineUseCase({
  name: 'catalog',
  needs: 'viewer',
  effect: 'reads',
  run: async ({ onWait }: { onWait?: OnWait | undefined }, context): Promise<Catalog> => {
    const hosting = await context.hosting();
    return hosting.fetchCatalog({ onWait });
  },
});

import type { Catalog } from '../../domain/catalog.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';

const defineUseCase = useCasesOver<AppPorts>();

/** Reads what can be ordered: for everybody who may look. */
export const readCatalog = defineUseCase({
  name: 'catalog',
  needs: 'viewer',
  effect: 'reads',
  run: async (input: { onWait?: () => void }, context): Promise<Catalog> => {
    const hosting = await context.hosting();
    return hosting.fetchCatalog(input.onWait ? { onWait: input.onWait } : {});
  },
});

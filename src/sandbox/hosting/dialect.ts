import type { AnswerStyle } from './answer.ts';
import type { Catalog } from './catalog.ts';
import type { Operation } from './routes.ts';

/** Puts a correct answer into the current dialect. Lists are done by `pages.ts`. */
export function speak(style: AnswerStyle, operation: Operation, body: unknown): unknown {
  if (operation === 'catalog') return isCatalog(body) ? speakCatalog(style, body) : body;
  if (operation === 'servers' || !isRecord(body)) return body;
  const { root_password, ...record } = body;
  return {
    ...record,
    ...saidState(style, operation),
    ...(root_password !== undefined && { [style.passwordField]: root_password }),
  };
}

/** The state that an answer says, where the service says another one than it has. */
function saidState(style: AnswerStyle, operation: Operation): { state?: string } {
  if (operation === 'delete') return { state: style.deletedState };
  return operation === 'start' ? { state: style.startedState } : {};
}

function speakCatalog({ prices }: AnswerStyle, catalog: Catalog): unknown {
  if (prices === 'documented') return catalog;
  return { ...catalog, plans: catalog.plans.map((plan) => ({ ...plan, currency: 'USD' })) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCatalog(value: unknown): value is Catalog {
  return isRecord(value) && Array.isArray(value.plans);
}

import { HostingError } from '../../domain/errors.ts';
import type { FailedAct } from '../../domain/failed-act.ts';

/**
 * Adds to an error of the hosting API what was not done to which server, so that a message can name both. Only for errors
 * that prove that nothing was done: an action whose answer was lost is no error, but an outcome of its own.
 */
export function nameFailure(
  error: unknown,
  failed: FailedAct,
  more: { readonly state?: string } = {},
): unknown {
  // A supplier that has not confirmed proves nothing, whatever was asked for.
  if (!(error instanceof HostingError) || error.code === 'checking') return error;
  const details = { ...error.details, state: more.state ?? error.details.state, failed };
  return new HostingError(error.code, error.moneyMoved, details);
}

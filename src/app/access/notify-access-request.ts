import type { AccessRequest } from '../../domain/access-request.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { notifyDecision } from '../decisions/notify-decision.ts';
import type { AppContext } from '../ports.ts';
import { accessKind } from './access-kind.ts';

/** Notifies users of an access request's state, as `notifyDecision` says; returns the request as it is then. */
export async function notifyAccessRequest(
  id: ConfirmationId,
  app: AppContext,
): Promise<AccessRequest | undefined> {
  return notifyDecision(accessKind(app), id);
}

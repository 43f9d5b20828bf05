import type { ClosedState } from '../../domain/decision.ts';

/** Why a request can't be answered or withdrawn any more; the user who decided follows where it says "by". */
export const CLOSED_WORDS: Readonly<Record<ClosedState, (by: string) => string>> = {
  approved: (by) => `This request was already approved${by}.`,
  running: (by) => `This request was already approved${by}.`,
  ended: (by) => `This request was already approved${by}.`,
  denied: (by) => `This request was already denied${by}.`,
  withdrawn: (by) => `This request was withdrawn${by}.`,
  expired: () => 'This request has expired.',
  canceled: () => 'This request was canceled, because something has changed since.',
  replaced: (by) => `This request was replaced by a newer one${by}.`,
  unknown: () => 'This request no longer exists.',
};

import type { RefusalDetails } from '../../domain/errors.ts';
import type { ReasonWords } from '../../domain/reason.ts';

/** What each refusal says, in escaped mrkdwn. Each feature has the words of its own codes; `words.ts` has all of them. */
export type RefusalWords = ReasonWords<RefusalDetails, [currency: string]>;

import type { Accounts } from '../accounts.ts';
import type { AnswerStyle, AnswerStyleChange } from '../answer.ts';
import type { PriceList } from '../catalog.ts';
import type { HostingClock } from '../clock.ts';
import type { FaultBook } from '../faults.ts';
import type { Journal } from '../journal.ts';
import type { Servers } from '../servers.ts';

export interface PageParts {
  readonly accounts: Accounts;
  readonly clock: HostingClock;
  readonly faults: FaultBook;
  readonly journal: Journal;
  readonly prices: PriceList;
  readonly servers: Servers;
  readonly style: AnswerStyle;
  readonly setAnswers: (change: AnswerStyleChange) => void;
}

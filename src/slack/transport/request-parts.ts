import type { Channels } from '../../app/access/ports.ts';
import type { CurrencyOf } from '../../app/account/currency.ts';
import type { Entry } from '../../app/authorize/entry.ts';
import type { OutcomeThreads, ReplyUrls } from '../../app/authorize/ports.ts';
import type { FollowedActs } from '../../app/servers/ports.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { AcknowledgedViews } from './acknowledged-views.ts';
import type { AdmissionParts } from './admission.ts';
import type { MayAnnounce } from './announcements.ts';
import type { FollowedViews } from './followed-views.ts';
import type { TouchHome } from './home-touch.ts';
import type { Reply } from './request.ts';
import type { SlackClients } from './slack-clients.ts';

/** What requests are made from. */
export interface RequestParts extends AdmissionParts {
  readonly entry: Entry;
  readonly clients: SlackClients;
  readonly replyUrls: ReplyUrls;
  readonly outcomeThreads: Pick<OutcomeThreads, 'find' | 'store'>;
  readonly followedActs: Pick<FollowedActs, 'place' | 'forget'>;
  readonly followedViews: FollowedViews;
  readonly acknowledgedViews: AcknowledgedViews;
  readonly mayAnnounce: MayAnnounce;
  readonly channels: Pick<Channels, 'look'>;
  readonly touchHome: TouchHome;
  readonly system: System;
  readonly log: Log;
  readonly currencyOf: CurrencyOf;
  readonly accountUrl: string | undefined;
}

/** How the user is answered, and where their changes are announced. */
export interface Ways {
  readonly reply: Reply;
  readonly triggerId: string | undefined;
  readonly thread: Thread | undefined;
}

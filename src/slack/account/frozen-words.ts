import type { RefusalDetails } from '../../domain/errors.ts';
import { mention, slackDate } from '../kit/text.ts';

/** Who froze purchases, and how that ends. */
export function frozenWords({ frozenBy, since }: RefusalDetails['purchases_frozen']): string {
  return `Purchases are frozen (by ${mention(frozenBy)}, ${slackDate(since)}). Nothing can be bought or renewed until an owner lifts the freeze in \`/vps settings\`.`;
}

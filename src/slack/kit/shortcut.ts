import type { ModalView } from '@slack/types';
import type { UseCaseSpec } from '../../app/authorize/use-case.ts';
import type { SlackRequest } from '../transport/request.ts';
import type { Origin } from './origin.ts';

/** A shortcut of the app: it opens a modal at once, and fills it. The manifest names it by its ID. */
export interface Shortcut {
  readonly id: string;
  /** On a message, or from anywhere. */
  readonly type: 'message' | 'global';
  /** What the manifest calls it. */
  readonly name: string;
  /** The modal's title. */
  readonly title: string;
  /** The use case whose permission is checked before anything is read. */
  readonly needs: UseCaseSpec;
  /** `message`: the one that the shortcut was used on, as Slack sends it. */
  load(message: unknown, request: SlackRequest, origin: Origin): Promise<ModalView>;
}

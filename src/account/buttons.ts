import { z } from 'zod';
import { defineButton } from '../slack/kit/button.ts';

export const connectButton = defineButton('connect', z.object({}));
/** Offers an owner to connect an account, where none is connected. */
export const connectStep = () => connectButton.element('Connect…', {}, { style: 'primary' });
export const settingsButton = defineButton('settings', z.object({}));

import { defineTransform } from 'millrace';

export default defineTransform<Buffer, Buffer, Buffer>(({ value }) => ({ value }));

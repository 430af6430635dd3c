//! Messages of each kind of channel for each event: method, URL, headers and body.

mod discord;
mod email;
mod google_chat;
mod grafana_oncall;
mod ntfy;
mod opsgenie;
mod pagerduty;
mod slack;
mod sms;
mod telegram;
mod webhook;
mod whatsapp;

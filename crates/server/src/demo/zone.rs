//! The demo's DNS zone `aloft.demo`: a few records, answered over UDP on loopback.

use hickory_proto::op::{Message, MessageType, OpCode, ResponseCode};
use hickory_proto::rr::rdata::{A, MX, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use tokio::net::UdpSocket;

/// The zone's name.
pub(super) const ZONE: &str = "aloft.demo";
/// Maximum length of a query. Queries of DNS monitors are shorter.
const QUERY_BYTES: usize = 1_232;
const TTL: u32 = 60;

/// Answers queries until the process ends.
pub(super) async fn serve(socket: UdpSocket) {
    let mut buffer = [0_u8; QUERY_BYTES];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else { continue };
        let Ok(query) = Message::from_vec(&buffer[..length]) else { continue };
        if let Ok(answer) = respond(&query).to_vec() {
            // The client retries after a lost answer.
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

fn respond(query: &Message) -> Message {
    let mut answer = Message::new(query.metadata.id, MessageType::Response, OpCode::Query);
    answer.metadata.recursion_desired = query.metadata.recursion_desired;
    answer.metadata.authoritative = true;
    for question in &query.queries {
        answer.add_query(question.clone());
        match records(question.name(), question.query_type()) {
            Some(records) => answer.answers.extend(records),
            None => answer.metadata.response_code = ResponseCode::NXDomain,
        }
    }
    answer
}

/// Returns the records of a name and type, or `None` if the zone does not contain the name.
fn records(name: &Name, kind: RecordType) -> Option<Vec<Record>> {
    let zone = Name::from_ascii(format!("{ZONE}.")).expect("the zone's name is a name");
    if *name != zone {
        return None;
    }
    let data = if kind == RecordType::A {
        vec![RData::A(A::new(203, 0, 113, 10)), RData::A(A::new(203, 0, 113, 11))]
    } else if kind == RecordType::MX {
        vec![RData::MX(MX::new(10, zone.prepend_label("mail").expect("`mail` is a label")))]
    } else if kind == RecordType::TXT {
        vec![RData::TXT(TXT::new(vec!["v=demo".to_owned()]))]
    } else {
        Vec::new()
    };
    Some(data.into_iter().map(|data| Record::from_rdata(name.clone(), TTL, data)).collect())
}

#[cfg(test)]
mod tests {
    use hickory_proto::op::Query;

    use super::*;

    fn answered(name: &str, kind: RecordType) -> (ResponseCode, Vec<String>) {
        let mut query = Message::new(7, MessageType::Query, OpCode::Query);
        query.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
        let answer = respond(&query);
        assert_eq!(answer.metadata.id, 7);
        let records = answer.answers.iter().map(|record| record.data.to_string()).collect();
        (answer.metadata.response_code, records)
    }

    #[test]
    fn server_responds_only_for_its_zone() {
        let none = Vec::<String>::new();
        let mail = vec!["10 mail.aloft.demo.".to_owned()];
        assert_eq!(answered("aloft.demo.", RecordType::MX), (ResponseCode::NoError, mail));
        assert_eq!(answered("ALOFT.demo.", RecordType::A).1.len(), 2);
        assert_eq!(
            answered("aloft.demo.", RecordType::AAAA),
            (ResponseCode::NoError, none.clone())
        );
        assert_eq!(answered("other.demo.", RecordType::A), (ResponseCode::NXDomain, none));
    }
}
